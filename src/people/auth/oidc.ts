import { AsyncLocalStorage } from "node:async_hooks";
import { genericOAuth } from "better-auth/plugins";
import { systemClock } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import type { PeopleContext } from "../context.ts";
import { readPerson, readPersonByEmail } from "../people-sql.ts";
import { normalEmail, type Person } from "../person.ts";
import { findPersonOfSubject } from "./accounts-sql.ts";

export const OIDC_PROVIDER = "oidc";

/** What is known of a return from the identity provider. */
export type ProviderReturn = {
  /** The person as it was before better-auth looked for it. Null: the provider has confirmed no person that is known. */
  readonly beginning: Person | null;
  /** Id of the account that better-auth has linked with the person now. Null: it was linked before, or it is not. */
  readonly linkedAccountId: string | null;
};

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** The return that is evaluated now. */
const returning = new AsyncLocalStorage<Writable<ProviderReturn>>();

/** Evaluates a return from the identity provider, and keeps what better-auth does not return. */
export async function withReturn<Result>(
  evaluate: () => Promise<Result>,
): Promise<ProviderReturn & { result: Result }> {
  const store: Writable<ProviderReturn> = { beginning: null, linkedAccountId: null };
  const result = await returning.run(store, evaluate);
  return { result, ...store };
}

/** Called after better-auth has linked an account. */
export async function keepLinkedAccount({ id }: { readonly id: string }): Promise<void> {
  const store = returning.getStore();
  if (store !== undefined) store.linkedAccountId = id;
}

/**
 * Sign-in by the identity provider of the configuration. There is no sign-up: a person must have been invited, and is
 * found by the subject, or the first time by an address that the provider has verified. better-auth verifies the signature of the ID
 * token, its issuer, audience, end and nonce.
 */
export function oidcPlugins({ db, config }: Pick<PeopleContext, "db" | "config">) {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName } = config;
  return oidcIssuer === null || oidcClientId === null || oidcClientSecret === null
    ? []
    : [
        genericOAuth({
          config: [
            {
              providerId: OIDC_PROVIDER,
              name: oidcName,
              discoveryUrl: `${oidcIssuer}/.well-known/openid-configuration`,
              clientId: oidcClientId,
              clientSecret: oidcClientSecret,
              scopes: ["openid", "email", "profile"],
              pkce: true,
              requireIdTokenVerification: true,
              disableSignUp: true,
              disableImplicitSignUp: true,
              accountSubject: ({ tokens }) => subjectOf(tokens.idToken, oidcClientId),
              // It is called with the verified ID token, before a person is looked for. It changes nothing of the profile.
              mapProfileToUser: async (profile) => {
                const store = returning.getStore();
                if (store !== undefined) store.beginning = await findPersonOfProfile(db, profile);
                return {};
              },
            },
          ],
        }),
      ];
}

/** The person of a subject, or the first time of an address. better-auth decides whether it is verified. */
async function findPersonOfProfile(
  db: Queryable,
  { sub, email }: Readonly<Record<string, unknown>>,
): Promise<Person | null> {
  const personId = await findPersonOfSubject(db, OIDC_PROVIDER, String(sub));
  if (personId !== null) return readPerson(db, personId);
  return typeof email === "string" ? readPersonByEmail(db, normalEmail(email)) : null;
}

/** The clock of the provider may be ahead of ours. */
const AHEAD_MAX_MS = MINUTE_MS;

/**
 * The subject of a verified ID token. Empty, which better-auth rejects: there is no token, which OpenID Connect requires (Core,
 * section 3.1.3.3), or it was issued to another client or in the future (section 3.1.3.7). Without a token the library would take
 * the subject from the response of another endpoint.
 */
function subjectOf(idToken: string | undefined, clientId: string): string {
  if (idToken === undefined) return "";
  const { sub, aud, azp, iat } = claimsOf(idToken);
  const isOurs = azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId;
  const isIssued = typeof iat === "number" && iat * SECOND_MS <= systemClock.now().getTime() + AHEAD_MAX_MS;
  return isOurs && isIssued && typeof sub === "string" ? sub : "";
}

const claimsOf = (idToken: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString());
