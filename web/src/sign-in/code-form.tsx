import { Button, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { isProblem } from "../api/problem.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { CodeFields, noCode } from "./code-fields.tsx";
import { SignInProblem } from "./sign-in-problem.tsx";

type Props = { readonly onSignedIn: () => void; readonly onBack: () => void };

/** The one-time code that follows the password. After five wrong ones, or ten minutes, the password is needed again. */
export function CodeForm({ onSignedIn, onBack }: Props) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: noCode,
    validate: ({ code }) => (code.trim() === "" ? { code: t("ui.required") } : {}),
    run: ({ code, isBackupCode }) =>
      dataOf(api.POST("/auth/sign-in/code", { body: { code: code.trim(), isBackupCode } })),
    onDone: onSignedIn,
  });
  const hasEnded = isProblem(problem, "unauthorized");
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {hasEnded ? (
          <Text size="sm" role="alert">
            {t("signIn.codeEnded")}
          </Text>
        ) : (
          <>
            <Text size="sm">{t("signIn.codeAbout")}</Text>
            <CodeFields form={form} />
            {problem !== null && <SignInProblem problem={problem} />}
            <Button type="submit" loading={isPending} fullWidth>
              {t("signIn.title")}
            </Button>
          </>
        )}
        <Button variant="subtle" onClick={onBack} fullWidth>
          {t("ui.back")}
        </Button>
      </Stack>
    </form>
  );
}
