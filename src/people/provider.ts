import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type IDToken,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { inTransaction } from "../platform/context.ts";
import { type Queryable, UnavailableError } from "../platform/database/database.ts";
import { MINUTE_MS, SECOND_MS, systemClock } from "../platform/time.ts";
import { hashToken, openSealedCookie, sealedCookie, useChallenge } from "./cookies.ts";
import { lockEnabled, readPersonByEmail } from "./people-sql.ts";
import { normalEmail, type People, type Visitor } from "./person.ts";
import { openSession } from "./sessions.ts";

/** What the browser brings back from a visit to the identity provider. */
const VISIT = {
  name: "provider_visit",
  purpose: "visit to the identity provider",
  lifetimeMs: 10 * MINUTE_MS,
};

/** Of a page to return to. Browsers drop a cookie with more than 4,096 characters, and it is in one. */
export const RETURN_LENGTH_MAX = 1_000;

/** The clock of the provider may be ahead of ours. */
const AHEAD_MAX_MS = MINUTE_MS;

/** Pages of the console to return to: a path of this service, and not the address of another one. */
const PATH = /^\/(?![/\\])[\x21-\x7e]*$/;
export const isReturnPath = (path: string): boolean => PATH.test(path);

const callbackUrl = ({ config }: Pick<People, "config">): string =>
  `${config.backOfficeUrl}/auth/callback/oidc`;

/**
 * What the identity provider of the configuration has published, requested once. After a failure the next sign-in requests it again.
 * @throws UnavailableError
 */
async function configurationOf(people: People): Promise<Configuration> {
  const { oidcIssuer, oidcClientId, oidcClientSecret } = people.config;
  const issuer = new URL(oidcIssuer ?? "");
  people.provider.configuration ??= discovery(issuer, oidcClientId ?? "", oidcClientSecret ?? "", undefined, {
    // Without it, the signature of an ID token is not verified, because it comes from the provider itself.
    execute: [enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [allowInsecureRequests] : [])],
    timeout: people.providerMs / SECOND_MS,
  });
  return people.provider.configuration.catch((err: unknown) => {
    people.provider.configuration = null;
    people.log.warn({ err }, "identity provider not available");
    throw new UnavailableError("The identity provider is not available.");
  });
}

/** Where the browser signs in. `returnTo`: the page that follows. */
export async function startProviderSignIn(
  people: People,
  returnTo: string,
): Promise<{ url: string; cookie: string }> {
  const configuration = await configurationOf(people);
  const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl(people),
    scope: "openid email profile",
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { url: url.href, cookie: sealedCookie(people, VISIT, { state, nonce, verifier, returnTo }) };
}

/**
 * The return from the identity provider. Where to go, and the cookie of the session: the page that was requested, or without a cookie
 * the sign-in page with `error` if no person was invited by that address, the provider has not verified it, or it did not respond. A
 * browser shows what is returned, so it is a page in any case. There is no sign-up: a person is found by its account, or the first
 * time by its address. Another account with the address of a person who has one is rejected: another human has the mailbox now.
 */
export async function finishProviderSignIn(
  people: People,
  query: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<{ location: string; cookie: string | null }> {
  const { backOfficeUrl } = people.config;
  const failed = { location: `${backOfficeUrl}/sign-in?error=sign-in-failed`, cookie: null };
  const visit = openSealedCookie(people, visitor.cookie, VISIT);
  if (visit === null) return failed;
  const account = await confirmedAccount(people, query, visit.content);
  if (account === null) return failed;
  const personId = await findPerson(people, account);
  if (personId === null) return failed;
  const cookie = await inTransaction(people, async (tx) => {
    const person = await lockEnabled(tx, personId);
    if (person === null || !(await useChallenge(tx, hashToken(visit.content["state"] ?? ""), visit.endsAt)))
      return null;
    const isLinked = (await findPersonOfAccount(tx, account)) === person.id;
    const mayLink = person.email === account.email; // It can have been changed since it was read.
    if (!isLinked && !(mayLink && (await linkAccount(tx, person.id, account, people.clock.now()))))
      return null;
    return openSession(tx, people, person, visitor, "identity provider");
  });
  return cookie === null ? failed : { location: `${backOfficeUrl}${visit.content["returnTo"]}`, cookie };
}

/** An account that the provider has confirmed, and the mail address that it has verified. Null: none. */
type Confirmed = ProviderAccount & { readonly email: string | null };

async function findPerson({ db }: People, account: Confirmed): Promise<string | null> {
  const known = await findPersonOfAccount(db, account);
  if (known !== null || account.email === null) return known;
  return (await readPersonByEmail(db, account.email))?.id ?? null;
}

/** The parameters that identity providers add to the address. */
const PARAMETERS = ["code", "state", "error", "error_description", "iss"];

/** The account that has signed in. Null: the return is not that of the visit, or the provider did not respond in time. */
async function confirmedAccount(
  people: People,
  query: Readonly<Record<string, unknown>>,
  { state = "", nonce = "", verifier = "" }: Readonly<Record<string, string>>,
): Promise<Confirmed | null> {
  const url = new URL(callbackUrl(people));
  for (const name of PARAMETERS)
    for (const value of [query[name] ?? []].flat()) url.searchParams.append(name, String(value));
  try {
    const configuration = await configurationOf(people);
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || !isForUs(claims, people.config.oidcClientId)) return null;
    const { iss: issuer, sub: subject } = claims;
    // Some providers send the address only in response to a request of its own.
    const { email, email_verified } =
      claims["email"] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
        ? await fetchUserInfo(configuration, tokens.access_token, subject)
        : claims;
    const isVerified = email_verified === true && typeof email === "string";
    return { issuer, subject, email: isVerified ? normalEmail(email) : null };
  } catch (err) {
    people.provider.configuration = null; // Its addresses can have changed.
    const reason = err instanceof Error ? err.message : String(err); // The error itself can contain tokens.
    people.log.warn({ reason }, "return from the identity provider not accepted");
    return null;
  }
}

/** OpenID Connect Core, section 3.1.3.7, as far as the library does not check it: issued to another client, or in the future. */
function isForUs({ azp, iat }: Pick<IDToken, "azp" | "iat">, clientId: string | null): boolean {
  const isIssued = iat * SECOND_MS <= systemClock.now().getTime() + AHEAD_MAX_MS;
  return isIssued && (azp === undefined || azp === clientId);
}

/** An account at an identity provider. */
type ProviderAccount = { readonly issuer: string; readonly subject: string };

/** The person that has linked an account of an identity provider. Null: none. */
async function findPersonOfAccount(
  db: Queryable,
  { issuer, subject }: ProviderAccount,
): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-account",
    text: "select person_id from person_provider_accounts where issuer = $1 and subject = $2",
    values: [issuer, subject],
  });
  return row?.person_id ?? null;
}

/** Links an account with a person. Returns false if the person has one, or another person has this one. */
async function linkAccount(
  tx: Queryable,
  personId: string,
  { issuer, subject }: ProviderAccount,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: "link-provider-account",
    text: `
      insert into person_provider_accounts (person_id, issuer, subject, linked_at)
      values ($1, $2, $3, $4)
      on conflict do nothing
      returning person_id`,
    values: [personId, issuer, subject, now],
  });
  return rows.length > 0;
}

/** Removes the account of the identity provider from a person. Returns whether there was one. */
export async function unlinkAccount(tx: Queryable, personId: string): Promise<boolean> {
  const rows = await tx.query({
    name: "unlink-provider-account",
    text: "delete from person_provider_accounts where person_id = $1 returning person_id",
    values: [personId],
  });
  return rows.length > 0;
}
