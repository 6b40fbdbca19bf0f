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
};

export function openPeople(context: PeopleContext): People {
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
  };
}
