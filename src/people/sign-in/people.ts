import { type Auth, type AuthKeys, authKeys, createAuth } from "../auth/auth.ts";
import type { PeopleContext } from "../context.ts";

/** What all operations of sign-in need. Made once for a listener. */
export type People = PeopleContext & {
  readonly keys: AuthKeys;
  /** better-auth. It is loaded when somebody signs in for the first time. */
  readonly auth: () => Auth;
};

export function openPeople(context: PeopleContext): People {
  let auth: Auth | null = null;
  return {
    ...context,
    keys: authKeys(context),
    auth: () => {
      auth ??= createAuth(context);
      return auth;
    },
  };
}
