import { SECOND_MS } from "../../platform/time.ts";
import { type Auth, type AuthKeys, authKeys, createAuth } from "../auth/auth.ts";
import { oidcPlugins } from "../auth/oidc.ts";
import type { PeopleContext } from "../context.ts";

/** What all operations of sign-in need. Made once for a listener. */
export type People = PeopleContext & {
  readonly keys: AuthKeys;
  /** better-auth. It is made when a person signs in for the first time. */
  readonly auth: () => Auth;
  /** The same with the identity provider, which it asks for its addresses: no other sign-in waits for that. */
  readonly providerAuth: () => Auth;
  /** After one of these did not respond in time: the next sign-in makes another one, which asks for the addresses again. */
  readonly dropProviderAuth: (auth: Auth) => void;
  readonly limits: PeopleLimits;
};

export type PeopleLimits = {
  /** An identity provider that needs longer is not available. */
  readonly providerMs: number;
};

const LIMITS: PeopleLimits = { providerMs: 10 * SECOND_MS };

export function openPeople(context: PeopleContext, limits = LIMITS): People {
  let auth: Auth | null = null;
  let providerAuth: Auth | null = null;
  return {
    ...context,
    keys: authKeys(context),
    auth: () => {
      auth ??= createAuth(context, []);
      return auth;
    },
    providerAuth: () => {
      providerAuth ??= createAuth(context, oidcPlugins(context));
      return providerAuth;
    },
    dropProviderAuth: (auth) => {
      if (providerAuth === auth) providerAuth = null;
    },
    limits,
  };
}
