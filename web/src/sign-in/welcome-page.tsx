import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { paths } from "../paths.ts";
import { ButtonLink, useGo } from "../ui/link.tsx";
import { LinkForm } from "./link-form.tsx";
import { NewPasswordForm } from "./new-password-form.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";
import { tokenOfAddress } from "./token-of-address.ts";

/** Accepts an invitation: the link signs in, and then the person chooses a password. */
export function WelcomePage() {
  const { t } = useTranslation();
  const [token] = useState(tokenOfAddress);
  const [isSignedIn, setSignedIn] = useState(false);
  const go = useGo();
  const enter = () => {
    queryClient.clear(); // What another person has seen in this browser.
    signInGate.admit();
    setSignedIn(true);
  };
  return (
    <SignInFrame title={t("signIn.welcome")}>
      {token === null && <ButtonLink to={paths.signIn()}>{t("signIn.title")}</ButtonLink>}
      {token !== null && !isSignedIn && (
        <LinkForm token={token} onSignedIn={enter} onGivenUp={() => void go(paths.signIn())} />
      )}
      {isSignedIn && (
        <>
          <Text size="sm">{t("signIn.choosePassword")}</Text>
          <NewPasswordForm
            run={(password) => dataOf(api.POST("/auth/password", { body: { password } }))}
            onDone={() => void go(paths.overview(), { replace: true })}
          />
          <Button variant="subtle" onClick={() => void go(paths.account(), { replace: true })}>
            {t("signIn.passkeyInstead")}
          </Button>
        </>
      )}
    </SignInFrame>
  );
}
