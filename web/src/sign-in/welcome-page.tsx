import { Button, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { enterAllTabs } from "../api/other-tabs.ts";
import { isProblem } from "../api/problem.ts";
import { queryClient } from "../api/query-client.ts";
import { read } from "../api/read.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { paths } from "../paths.ts";
import { ButtonLink, useGo } from "../ui/link.tsx";
import { ProblemMessage } from "../ui/problem-message.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { LinkForm, NewPasswordForm, SignInFrame } from "./sign-in-parts.tsx";
import { tokenOfAddress } from "./token-of-address.ts";

/** Accepts an invitation: the link signs in, and then the person chooses a password. */
export function WelcomePage() {
  const { t } = useTranslation();
  const [token, setToken] = useState(tokenOfAddress);
  const go = useGo();
  const enter = () => {
    signInGate.leave(); // The page showed another person, perhaps.
    queryClient.clear(); // What that one has seen.
    setToken(null);
  };
  return (
    <SignInFrame title={t("signIn.welcome")}>
      {token === null ? (
        <ChoosePassword />
      ) : (
        <LinkForm token={token} onSignedIn={enter} onGivenUp={() => void go(paths.signIn())} />
      )}
    </SignInFrame>
  );
}

/** What follows the link. The session is all that it needs, so the page can be loaded again. */
function ChoosePassword() {
  const { t } = useTranslation();
  const go = useGo();
  const { data: account, error, refetch } = useQuery(read("/auth/account"));
  useEffect(() => {
    if (account !== undefined) enterAllTabs(account.id);
  }, [account]);
  if (isProblem(error, "unauthorized"))
    return <ButtonLink to={paths.signIn()}>{t("signIn.title")}</ButtonLink>;
  if (error !== null) return <ProblemMessage error={error} retry={() => void refetch()} />;
  if (account === undefined) return <Skeleton height={80} role="status" aria-label={t("ui.loading")} />;
  if (account.hasPassword) return <ButtonLink to={paths.overview()}>{t("signIn.continue")}</ButtonLink>;
  return (
    <>
      <Text size="sm">{t("signIn.choosePassword")}</Text>
      <NewPasswordForm
        run={(password) => dataOf(api.POST("/auth/password", { body: { password } }))}
        onDone={() => void go(paths.overview(), { replace: true })}
      />
      <Button variant="subtle" onClick={() => void go(paths.account(), { replace: true })}>
        {t("signIn.passkeyInstead")}
      </Button>
      <SignInAgain />
    </>
  );
}
