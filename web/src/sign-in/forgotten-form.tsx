import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

/** Asks for a link to set a new password. Whether anyone has the address is not said. */
export function ForgottenForm({ onBack }: { onBack: () => void }) {
  const { t } = useTranslation();
  const [isSent, setSent] = useState(false);
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { email: "" },
    validate: ({ email }) => (email.trim() === "" ? { email: t("ui.required") } : {}),
    run: ({ email }) => dataOf(api.POST("/auth/reset", { body: { email: email.trim() } })),
    onDone: () => setSent(true),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm" role={isSent ? "status" : undefined}>
          {isSent ? t("signIn.resetSent") : t("signIn.resetAbout")}
        </Text>
        {!isSent && (
          <>
            <TextInput
              label={t("signIn.email")}
              type="email"
              autoComplete="username"
              autoFocus
              {...form.getInputProps("email")}
            />
            {problem !== null && <SignInProblem problem={problem} />}
            <Button type="submit" loading={isPending} fullWidth>
              {t("signIn.sendLink")}
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
