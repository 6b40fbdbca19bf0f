import { Button, PasswordInput, Stack } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

const LENGTH_MIN = 12; // The description of `NewPassword` says so; the service decides.

type Props = {
  readonly run: (password: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly done?: string;
};

/** A new password. */
export function NewPasswordForm({ run, onDone, done }: Props) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending, reset } = useApiForm({
    initialValues: { password: "" },
    validate: ({ password }) => (password.length < LENGTH_MIN ? { password: t("signIn.passwordShort") } : {}),
    run: ({ password }) => run(password),
    onDone: () => {
      reset();
      onDone();
    },
    ...(done !== undefined && { done }),
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <PasswordInput
          label={t("signIn.newPassword")}
          description={t("signIn.newPasswordHelp")}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t("signIn.showPassword") }}
          {...form.getInputProps("password")}
        />
        {problem !== null && <SignInProblem problem={problem} />}
        <Button type="submit" loading={isPending}>
          {t("signIn.setPassword")}
        </Button>
      </Stack>
    </form>
  );
}
