import { Button, Checkbox, Stack, Text, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

/** The one-time code that follows the password. */
export function CodeForm({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { code: "", isBackupCode: false },
    validate: ({ code }) => (code.trim() === "" ? { code: t("ui.required") } : {}),
    run: ({ code, isBackupCode }) =>
      dataOf(api.POST("/auth/sign-in/code", { body: { code: code.trim(), isBackupCode } })),
    onDone: onSignedIn,
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">{t("signIn.codeAbout")}</Text>
        <TextInput
          label={t("signIn.code")}
          autoComplete="one-time-code"
          inputMode={form.values.isBackupCode ? "text" : "numeric"}
          data-autofocus
          autoFocus
          {...form.getInputProps("code")}
        />
        <Checkbox
          label={t("signIn.backupCode")}
          {...form.getInputProps("isBackupCode", { type: "checkbox" })}
        />
        {problem !== null && <SignInProblem problem={problem} failed={t("signIn.codeFailed")} />}
        <Button type="submit" loading={isPending} fullWidth>
          {t("signIn.title")}
        </Button>
      </Stack>
    </form>
  );
}
