import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, checkSession, dataOf } from "../api/client.ts";
import { isProblem } from "../api/problem.ts";
import { read } from "../api/read.ts";
import { useChange } from "../api/use-change.ts";
import { useApiForm } from "../ui/form/use-api-form.ts";
import { CodeFields, noCode, PasskeyButton, SignInProblem } from "./sign-in-parts.tsx";

type Props = {
  readonly onSignedIn: () => void;
  /** Where a sign-in at another provider comes back to. Absent over a page, which it would leave. */
  readonly returnTo?: string;
};

/** All ways to sign in: password and code, passkey, the operator's provider, a link to a new password. */
export function SignInWays({ onSignedIn, returnTo }: Props) {
  const { t } = useTranslation();
  const [step, setStep] = useState<"password" | "code" | "forgotten">("password");
  if (step === "code") return <CodeForm onSignedIn={onSignedIn} onBack={() => setStep("password")} />;
  if (step === "forgotten") return <ForgottenForm onBack={() => setStep("password")} />;
  return (
    <Stack gap="sm">
      <PasswordForm onSignedIn={onSignedIn} onCodeRequired={() => setStep("code")} />
      <Divider label={t("signIn.or")} />
      <PasskeyButton onSignedIn={onSignedIn} />
      {returnTo === undefined ? (
        <OtherTab onSignedIn={onSignedIn} />
      ) : (
        <>
          <SingleSignOn returnTo={returnTo} />
          <Anchor component="button" type="button" size="sm" onClick={() => setStep("forgotten")}>
            {t("signIn.forgotten")}
          </Anchor>
        </>
      )}
    </Stack>
  );
}

/** A link or a provider would leave the page and lose what was typed. Another tab signs in for this one too. */
function OtherTab({ onSignedIn }: Pick<Props, "onSignedIn">) {
  const { t } = useTranslation();
  const check = useChange({ run: checkSession, onDone: onSignedIn, showsError: () => true });
  return (
    <>
      <Text size="sm">{t("signIn.expiredOtherTab")}</Text>
      {check.error !== null && <SignInProblem problem={check.error} />}
      <Button variant="default" fullWidth loading={check.isPending} onClick={() => check.mutate()}>
        {t("signIn.continue")}
      </Button>
    </>
  );
}

/** The provider of the operator's organization, if one is configured. */
function SingleSignOn({ returnTo }: { returnTo: string }) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...read("/auth/methods"), staleTime: Number.POSITIVE_INFINITY });
  const begin = useChange({
    run: () => dataOf(api.POST("/auth/sign-in/single-sign-on", { body: { returnTo: shortened(returnTo) } })),
    onDone: ({ url }) => location.assign(url),
  });
  const provider = data?.singleSignOn;
  if (provider === undefined || provider === null) return null;
  return (
    <Button variant="default" fullWidth loading={begin.isPending} onClick={() => begin.mutate()}>
      {t("signIn.singleSignOn", { name: provider.name })}
    </Button>
  );
}

/** The service returns to addresses of 1,000 characters at most. Of a longer one the page opens without its filters. */
const shortened = (address: string): string =>
  address.length <= 1_000 ? address : (address.split("?", 1)[0] ?? "/");

type CodeFormProps = { readonly onSignedIn: () => void; readonly onBack: () => void };

/** The one-time code that follows the password. After five wrong ones, or ten minutes, the password is needed again. */
function CodeForm({ onSignedIn, onBack }: CodeFormProps) {
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

/** Asks for a link to set a new password. Whether anyone has the address is not said. */
function ForgottenForm({ onBack }: { onBack: () => void }) {
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

type PasswordFormProps = { readonly onSignedIn: () => void; readonly onCodeRequired: () => void };

/** Mail address and password. */
function PasswordForm({ onSignedIn, onCodeRequired }: PasswordFormProps) {
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
