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
import type { Problem } from "../platform/wire/problems.ts";
import { hashToken, openSealedCookie, sealedCookie, useChallenge } from "./cookies.ts";
import { type PeopleContext, recordByPerson, type Visitor } from "./person.ts";
import { endSessions, lockSession, type Own, type PersonSession, signInFailed } from "./sessions.ts";

/** Passkeys of a person. */
export const PASSKEYS_MAX = 20;

const tooManyPasskeys: Problem = {
  code: "limit-reached",
  detail: `A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`,
  members: { limit: "passkeys", maximum: PASSKEYS_MAX },
};
const notFitting = signInFailed("invalid-passkey");

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
export async function passkeyRegistration(context: PeopleContext, own: Own): Promise<Asked> {
  const { id, email, name } = own.person;
  const known = await listPasskeys(context.db, id); // A device makes no second one for a person.
  const options = await generateRegistrationOptions({
    rpName: "Partner Orders",
    rpID: hostOf(context),
    userID: new Uint8Array(Buffer.from(id)),
    userName: email,
    userDisplayName: name,
    challenge: makeChallenge(),
    attestationType: "none",
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  return {
    options,
    cookie: sealedCookie(context, registrationIn(own), { challenge: options.challenge }),
  };
}

/** Stores a passkey that the browser has made. It fails if what it sent does not fit the challenge, or the session has ended. */
export async function addPasskey(
  context: PeopleContext,
  own: Own,
  { name, response }: { readonly name: string; readonly response: Readonly<Record<string, unknown>> },
): Promise<Problem | null> {
  const kept = openSealedCookie(context, own.cookie, registrationIn(own));
  if (kept === null) return notFitting;
  const { challenge = "" } = kept.content;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON, // The library checks each member itself.
    expectedChallenge: challenge,
    expectedOrigin: own.origin,
    expectedRPID: hostOf(context),
    requireUserVerification: true,
  }).catch(() => ({ registrationInfo: undefined })); // It throws plain errors, for whatever does not fit.
  if (registrationInfo === undefined) return notFitting;
  const { person } = own;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, own))) return notFitting;
    if ((await listPasskeys(tx, person.id)).length >= PASSKEYS_MAX) return tooManyPasskeys;
    if (!(await useChallenge(tx, hashToken(challenge), kept.endsAt))) return notFitting;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    const credential = { id, publicKey: Buffer.from(publicKey), counter, transports };
    const [passkeyId, now] = [context.newId(), context.clock.now()];
    if (!(await insertPasskey(tx, { id: passkeyId, personId: person.id, name, credential, now })))
      return notFitting;
    await recordByPerson(tx, context, person, own, "addPasskey", { passkey: name });
    return null;
  });
}

/**
 * Removes a passkey of a person, and ends its other sessions: a device that is lost has perhaps opened one. False: there is no such
 * passkey, or the session has ended.
 */
export const removePasskey = (context: PeopleContext, own: Own, passkeyId: string): Promise<boolean> =>
  inTransaction(context, async (tx: Queryable) => {
    const { person, session } = own;
    if (!(await lockSession(tx, own))) return false;
    const name = await deletePasskey(tx, person.id, passkeyId);
    if (name === null) return false;
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, own, "removePasskey", { passkey: name, sessionsEnded });
    return true;
  });

/** What a device has made for a person. `id` and the public key are as WebAuthn has them. */
type Credential = {
  readonly id: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: string[];
};

export type StoredCredential = Omit<Credential, "transports"> & { readonly personId: string };

export type Passkey = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly credentialId: string;
  readonly transports: string[];
};

/** Oldest first. There are at most PASSKEYS_MAX. */
export async function listPasskeys(db: Queryable, personId: string): Promise<Passkey[]> {
  return db.query<Passkey>({
    name: "list-person-passkeys",
    text: `
      select k.id, k.name, k.created_at as "createdAt", k.credential_id as "credentialId", k.transports
      from person_passkeys k
      where k.person_id = $1
      order by k.id
      limit 100`,
    values: [personId],
  });
}

/** The credential with an id, and its person. Null: it is not known. */
export async function readCredential(db: Queryable, credentialId: string): Promise<StoredCredential | null> {
  const [row] = await db.query<StoredCredential>({
    name: "read-credential",
    text: `
      select credential_id as id, person_id as "personId", public_key as "publicKey", counter::double precision as counter
      from person_passkeys
      where credential_id = $1`,
    values: [credentialId],
  });
  return row ?? null;
}

/** Records a use of a credential. Returns false if it was removed, or used at the same time by a device that counts. */
export async function recordUse(tx: Queryable, credentialId: string, counter: number): Promise<boolean> {
  const rows = await tx.query({
    name: "record-credential-use",
    text: `
      update person_passkeys set counter = $2
      where credential_id = $1 and (counter < $2 or counter = 0 and $2 = 0)
      returning id`,
    values: [credentialId, counter],
  });
  return rows.length > 0;
}

/** Stores a passkey. Returns false if a person has this credential already. */
async function insertPasskey(
  tx: Queryable,
  passkey: { id: string; personId: string; name: string; credential: Credential; now: Date },
): Promise<boolean> {
  const { id, publicKey, counter, transports } = passkey.credential;
  const rows = await tx.query({
    name: "insert-person-passkey",
    text: `
      insert into person_passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict do nothing
      returning id`,
    values: [passkey.id, passkey.personId, passkey.name, id, publicKey, counter, transports, passkey.now],
  });
  return rows.length > 0;
}

/** The name of the passkey that was deleted. Null if there is none. */
async function deletePasskey(tx: Queryable, personId: string, passkeyId: string): Promise<string | null> {
  const [row] = await tx.query<{ name: string }>({
    name: "delete-person-passkey",
    text: "delete from person_passkeys where person_id = $1 and id = $2 returning name",
    values: [personId, passkeyId],
  });
  return row?.name ?? null;
}

/** Deletes all passkeys of a person. Returns how many. */
export async function deletePasskeys(tx: Queryable, personId: string): Promise<number> {
  const rows = await tx.query({
    name: "delete-person-passkeys",
    text: "delete from person_passkeys where person_id = $1 returning id",
    values: [personId],
  });
  return rows.length;
}
