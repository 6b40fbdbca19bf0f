import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

type Props = { readonly onSignedIn: () => void; readonly onCodeRequired: () => void };

/** Mail address and password. */
export function PasswordForm({ onSignedIn, onCodeRequired }: Props) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { email: "", password: "" },
    validate: ({ email, password }) => ({
      ...(email.trim() === "" && { email: t("ui.required") }),
      ...(password === "" && { password: t("ui.required") }),
    }),
    run: (body) => dataOf(api.POST("/auth/sign-in/password", { body })),
    onDone: ({ status }) => (status === "code-required" ? onCodeRequired() : onSignedIn()),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t("signIn.email")}
          type="email"
          autoComplete="username webauthn"
          data-autofocus
          autoFocus
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label={t("signIn.password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("signIn.showPassword") }}
          {...form.getInputProps("password")}
        />
        {problem !== null && <SignInProblem problem={problem} />}
        <Button type="submit" loading={isPending} fullWidth>
          {t("signIn.title")}
        </Button>
      </Stack>
    </form>
  );
}
