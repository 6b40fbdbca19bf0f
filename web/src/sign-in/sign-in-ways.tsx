import { Anchor, Button, Divider, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, checkSession, dataOf } from "../api/client.ts";
import { read } from "../api/read.ts";
import { useChange } from "../api/use-change.ts";
import { CodeForm } from "./code-form.tsx";
import { ForgottenForm } from "./forgotten-form.tsx";
import { PasskeyButton } from "./passkey-button.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SignInProblem } from "./sign-in-problem.tsx";

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
