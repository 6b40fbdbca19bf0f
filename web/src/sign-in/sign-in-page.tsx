import { Alert, Button, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { enterAllTabs } from "../api/other-tabs.ts";
import { isProblem } from "../api/problem.ts";
import { queryClient } from "../api/query-client.ts";
import { read } from "../api/read.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { paths } from "../paths.ts";
import { readStored, store } from "../stored.ts";
import { ButtonLink, TextLink, useGo } from "../ui/link.tsx";
import { ProblemMessage } from "../ui/problem-message.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { LinkForm, NewPasswordForm, SignInFrame } from "./sign-in-parts.tsx";
import { SignInWays } from "./sign-in-ways.tsx";

const route = getRouteApi("/sign-in");

/** The first page of a person who is not signed in: a link's button, or a password. */
export function SignInPage() {
  const { t } = useTranslation();
  const { next: asked, error } = route.useSearch();
  const [next] = useState(() => asked ?? keptDestination());
  useEffect(() => keepDestination(asked), [asked]);
  const [token, setToken] = useState(tokenOfAddress);
  const go = useGo();
  const enter = async () => {
    signInGate.leave(); // The page showed another person, perhaps.
    queryClient.clear(); // What that one has seen.
    store(DESTINATION, "");
    await go(ownAddress(next), { replace: true });
  };
  return (
    <SignInFrame title={t("signIn.title")}>
      {error !== undefined && (
        <Alert color="red" variant="light" role="alert">
          {t("signIn.providerFailed")}
        </Alert>
      )}
      {token === null ? (
        <SignInWays onSignedIn={enter} returnTo={ownAddress(next)} />
      ) : (
        <LinkForm token={token} onSignedIn={enter} onGivenUp={() => setToken(null)} />
      )}
    </SignInFrame>
  );
}

const DESTINATION = "sign-in-destination";
/** A link of a mail is good for as long. */
const KEPT_MS = 3_600_000;

/** Where the person was going, for a link of a mail, which opens the sign-in page in another tab. */
function keepDestination(next: string | undefined): void {
  if (next !== undefined) store(DESTINATION, JSON.stringify({ next, at: Date.now() }));
}

/** It counts until a person has signed in, and not for long: the browser may be another person's then. */
function keptDestination(): string | undefined {
  const kept: { next?: unknown; at?: unknown } = JSON.parse(readStored(DESTINATION) || "{}");
  const isFresh = typeof kept.at === "number" && Date.now() - kept.at < KEPT_MS;
  return isFresh && typeof kept.next === "string" ? kept.next : undefined;
}

/** An address of the console. One of another site would make the sign-in page a way to it. */
const ownAddress = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\])/.test(next) ? next : paths.overview();

/** What follows `#token=` in the address of a link. It is removed from the address, and so from the browser's history. */
function tokenOfAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}

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

/** Sets a new password with the link of a mail. */
export function ResetPasswordPage() {
  const { t } = useTranslation();
  const [token] = useState(tokenOfAddress);
  const go = useGo();
  return (
    <SignInFrame title={t("signIn.resetTitle")}>
      {token === null ? (
        <Text size="sm">{t("signIn.linkUsedUp")}</Text>
      ) : (
        <NewPasswordForm
          run={(password) => dataOf(api.POST("/auth/reset/password", { body: { token, password } }))}
          onDone={() => void go(paths.signIn(), { replace: true })}
          done={t("signIn.passwordSet")}
        />
      )}
      <TextLink to={paths.signIn()} size="sm">
        {t("signIn.title")}
      </TextLink>
    </SignInFrame>
  );
}
