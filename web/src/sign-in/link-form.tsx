import { Button, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { isProblem } from "../api/problem.ts";
import { explainedProblem } from "../text/explanations.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

type Props = { readonly token: string; readonly onSignedIn: () => void; readonly onGivenUp: () => void };

/** The button of a link. A program that follows the links of a mail presses none, so it does not use the link up. */
export function LinkForm({ token, onSignedIn, onGivenUp }: Props) {
  const { t } = useTranslation();
  const { submit, problem, isPending } = useApiForm({
    initialValues: {},
    run: () => dataOf(api.POST("/auth/sign-in/link", { body: { token } })),
    onDone: onSignedIn,
  });
  const isUsedUp = isProblem(problem, "sign-in-failed");
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {problem === null && <Text size="sm">{t("signIn.byLink")}</Text>}
        {isUsedUp && <Text size="sm">{explainedProblem(problem)}</Text>}
        {problem !== null && !isUsedUp && <SignInProblem problem={problem} />}
        {!isUsedUp && (
          <Button type="submit" loading={isPending} fullWidth autoFocus>
            {t("signIn.continue")}
          </Button>
        )}
        <Button variant="subtle" onClick={onGivenUp} fullWidth>
          {t("signIn.otherWay")}
        </Button>
      </Stack>
    </form>
  );
}
