import { Alert } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { queryClient } from "../api/query-client.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { paths } from "../paths.ts";
import { readStored, store } from "../stored.ts";
import { useGo } from "../ui/link.tsx";
import { LinkForm, SignInFrame } from "./sign-in-parts.tsx";
import { SignInWays } from "./sign-in-ways.tsx";
import { tokenOfAddress } from "./token-of-address.ts";

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
