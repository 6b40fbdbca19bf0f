import { Alert } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { queryClient } from "../api/query-client.ts";
import { signInGate } from "../api/sign-in-gate.ts";
import { paths } from "../paths.ts";
import { useGo } from "../ui/link.tsx";
import { LinkForm, SignInFrame } from "./sign-in-parts.tsx";
import { SignInWays } from "./sign-in-ways.tsx";
import { tokenOfAddress } from "./token-of-address.ts";

const route = getRouteApi("/sign-in");

/** The first page of a person who is not signed in: a link's button, or a password. */
export function SignInPage() {
  const { t } = useTranslation();
  const { next, error } = route.useSearch();
  const [token, setToken] = useState(tokenOfAddress);
  const go = useGo();
  const enter = async () => {
    signInGate.leave(); // The page showed another person, perhaps.
    queryClient.clear(); // What that one has seen.
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

/** An address of the console. One of another site would make the sign-in page a way to it. */
const ownAddress = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\])/.test(next) ? next : paths.overview();
