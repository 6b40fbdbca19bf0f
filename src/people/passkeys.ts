import { randomBytes } from "node:crypto";
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { MINUTE_MS } from "../platform/time.ts";
import { recordByPerson } from "./by-person.ts";
import { hashToken, openSealedCookie, sealedCookie } from "./cookies.ts";
import {
  countPasskeys,
  deletePasskey,
  insertPasskey,
  listCredentials,
  type StoredCredential,
} from "./passkeys-sql.ts";
import type { PeopleContext, Visitor } from "./person.ts";
import { endSessions, lockSession } from "./sessions.ts";
import type { PersonSession } from "./sessions-sql.ts";
import { useChallenge } from "./sign-in-methods-sql.ts";

/** Passkeys of a person. */
export const PASSKEYS_MAX = 20;

const CHALLENGE_MS = 5 * MINUTE_MS;

/** Options of WebAuthn for a browser, and the cookie of their challenge. */
type Asked = { readonly options: object; readonly cookie: string };

/** Passkeys need https, or localhost, and are for the host of BACK_OFFICE_URL alone. */
const hostOf = ({ config }: PeopleContext): string => new URL(config.backOfficeUrl).hostname;

/** A challenge is good for one purpose, and the browser keeps it. */
const cookieFor = (purpose: string) => ({ name: "passkey_challenge", purpose, lifetimeMs: CHALLENGE_MS });
const SIGN_IN = cookieFor("sign-in with a passkey");
const registrationIn = ({ session }: PersonSession) => cookieFor(`new passkey of session ${session.id}`);

const makeChallenge = () => new Uint8Array(randomBytes(32));

/** What the browser needs to ask for a passkey. */
export async function passkeyOptions(context: PeopleContext): Promise<Asked> {
  const options = await generateAuthenticationOptions({
    rpID: hostOf(context),
    challenge: makeChallenge(),
    userVerification: "required", // A device alone proves little: it must have verified the person, by a finger or a code.
  });
  return { options, cookie: sealedCookie(context, SIGN_IN, { challenge: options.challenge }) };
}

/**
 * Compares what a device has signed with the challenge of the browser. Returns what uses both up in the transaction that opens
 * the session, or null if they do not fit.
 */
export async function verifyPasskey(
  context: PeopleContext,
  { id, publicKey, counter }: StoredCredential,
  response: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<{ counter: number; challengeHash: Buffer; endsAt: Date } | null> {
  const kept = openSealedCookie(context, visitor.cookie, SIGN_IN);
  if (kept === null) return null;
  const { challenge = "" } = kept.content;
  const verified = await verifyAuthenticationResponse({
    response: response as unknown as AuthenticationResponseJSON, // The library checks each member itself.
    expectedChallenge: challenge,
    expectedOrigin: visitor.origin,
    expectedRPID: hostOf(context),
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
    requireUserVerification: true,
  }).catch(() => null); // The library throws plain errors, for whatever does not fit.
  if (!verified?.verified) return null;
  const { newCounter } = verified.authenticationInfo;
  return { counter: newCounter, challengeHash: hashToken(challenge), endsAt: kept.endsAt };
}

/** What the browser needs to make a passkey of a person. */
export async function passkeyRegistration(context: PeopleContext, opened: PersonSession): Promise<Asked> {
  const { id, email, name } = opened.person;
  const options = await generateRegistrationOptions({
    rpName: "Partner Orders",
    rpID: hostOf(context),
    userID: new Uint8Array(Buffer.from(id)),
    userName: email,
    userDisplayName: name,
    challenge: makeChallenge(),
    attestationType: "none",
    excludeCredentials: await listCredentials(context.db, id),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  return {
    options,
    cookie: sealedCookie(context, registrationIn(opened), { challenge: options.challenge }),
  };
}

/** Stores a passkey that the browser has made. It fails if what it sent does not fit the challenge, or the session has ended. */
export async function addPasskey(
  context: PeopleContext,
  opened: PersonSession,
  { name, response }: { readonly name: string; readonly response: Readonly<Record<string, unknown>> },
  visitor: Visitor,
): Promise<"added" | "failed" | "too-many"> {
  const kept = openSealedCookie(context, visitor.cookie, registrationIn(opened));
  if (kept === null) return "failed";
  const { challenge = "" } = kept.content;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON, // The library checks each member itself.
    expectedChallenge: challenge,
    expectedOrigin: visitor.origin,
    expectedRPID: hostOf(context),
    requireUserVerification: true,
  }).catch(() => ({ registrationInfo: undefined })); // It throws plain errors, for whatever does not fit.
  if (registrationInfo === undefined) return "failed";
  const { person } = opened;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return "failed";
    if ((await countPasskeys(tx, person.id)) >= PASSKEYS_MAX) return "too-many";
    if (!(await useChallenge(tx, hashToken(challenge), kept.endsAt))) return "failed";
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    const credential = { id, publicKey: Buffer.from(publicKey), counter, transports };
    const [passkeyId, now] = [context.newId(), context.clock.now()];
    if (!(await insertPasskey(tx, { id: passkeyId, personId: person.id, name, credential, now })))
      return "failed";
    await recordByPerson(tx, context, person, visitor, "addPasskey", { passkey: name });
    return "added";
  });
}

/**
 * Removes a passkey of a person, and ends its other sessions: a device that is lost has perhaps opened one. False: there is no such
 * passkey, or the session has ended.
 */
export const removePasskey = (
  context: PeopleContext,
  opened: PersonSession,
  passkeyId: string,
  visitor: Visitor,
): Promise<boolean> =>
  inTransaction(context, async (tx: Queryable) => {
    const { person, session } = opened;
    if (!(await lockSession(tx, opened))) return false;
    const name = await deletePasskey(tx, person.id, passkeyId);
    if (name === null) return false;
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, visitor, "removePasskey", { passkey: name, sessionsEnded });
    return true;
  });
