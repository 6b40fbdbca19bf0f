import IconFingerprint from "icon:fingerprint";
import {
  Alert,
  Box,
  Button,
  Center,
  Checkbox,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { hasPasskeys, isGivenUp, signInWithPasskey } from "../api/passkeys.ts";
import { isProblem } from "../api/problem.ts";
import icon from "../shell/icon.svg";
import { LanguageChoice } from "../shell/preferences.tsx";
import { explainedProblem } from "../text/explanations.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { ProblemMessage } from "../ui/problem-message.tsx";

/** The frame of the pages before the sign-in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${title} · ${t("shell.product")}`;
  }, [title, t]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={380} maw="100%" gap="md">
        <Group gap={8} justify="center">
          <img src={icon} width={28} height={28} alt="" />
          <Text fw={600}>{t("shell.product")}</Text>
        </Group>
        <Paper withBorder p="lg" radius="md">
          <Stack gap="md">
            <Title order={1} size="h4">
              {title}
            </Title>
            {children}
          </Stack>
        </Paper>
        <Box w={180} maw="100%" mx="auto">
          <LanguageChoice />
        </Box>
      </Stack>
    </Center>
  );
}

export type CodeValues = { code: string; isBackupCode: boolean };

export const noCode: CodeValues = { code: "", isBackupCode: false };

/** A code of the person's device, or one of its backup codes. */
export function CodeFields({ form }: { form: UseFormReturnType<CodeValues> }) {
  const { t } = useTranslation();
  return (
    <>
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
    </>
  );
}

type LinkFormProps = {
  readonly token: string;
  readonly onSignedIn: () => void;
  readonly onGivenUp: () => void;
};

/** The button of a link. A program that follows the links of a mail presses none, so it does not use the link up. */
export function LinkForm({ token, onSignedIn, onGivenUp }: LinkFormProps) {
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

const LENGTH_MIN = 12; // The description of `NewPassword` says so; the service decides.

type NewPasswordFormProps = {
  readonly run: (password: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly done?: string;
};

/** A new password. */
export function NewPasswordForm({ run, onDone, done }: NewPasswordFormProps) {
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

/** Signs in with a passkey. Left out where the browser has none. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation();
  const signIn = useMutation({ mutationFn: signInWithPasskey, onSuccess: onSignedIn });
  if (!hasPasskeys()) return null;
  return (
    <>
      {signIn.error !== null && !isGivenUp(signIn.error) && <SignInProblem problem={signIn.error} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={16} />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        {t("signIn.passkey")}
      </Button>
    </>
  );
}

type SignInProblemProps = { readonly problem: Error };

/** Why a sign-in did not succeed. The service never says whether a person has the address. */
export function SignInProblem({ problem }: SignInProblemProps) {
  const { t } = useTranslation();
  if (isProblem(problem, "sign-in-failed"))
    return (
      <Alert color="red" variant="light" role="alert">
        {explainedProblem(problem)}
      </Alert>
    );
  if (isProblem(problem, "rate-limited"))
    return (
      <Alert color="red" variant="light" role="alert">
        {t("signIn.tooMany")}
      </Alert>
    );
  return <ProblemMessage error={problem} />;
}
