import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { after, MINUTE_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { hashToken, makeToken, readCookie, setCookie, useChallenge } from "./cookies.ts";
import { bucketsOf, clear, codesOfPerson, failuresOf, take, takeAttempt } from "./limit-attempts.ts";
import { findPersonOfLink, isLinkToken, type LinkKind, useLink } from "./links.ts";
import { type Code, useCode } from "./one-time-codes.ts";
import { readCredential, recordUse, verifyPasskey } from "./passkeys.ts";
import { isPassword, readPasswordOf } from "./passwords.ts";
import { lockEnabled, readPerson } from "./people-sql.ts";
import { normalEmail, type PeopleContext, type Person, recordByPerson, type Visitor } from "./person.ts";
import { codeStepEnded, openSession, signInFailed } from "./sessions.ts";

// Each way to sign in compares a proof, and then opens the session in one transaction (docs/design/people.md, "Ending sign-ins"): it
// locks the person, uses the proof up, or sees that it is still valid, and stores session and audit entry. Whatever takes the proof
// away, or ends the sessions of the person, locks the person too. So it comes before, and the sign-in fails, or after, and ends the
// session.

/** How far a sign-in is, and the cookie of that. `code-required`: the password is right, and a one-time code must follow. */
export type SignIn = { readonly status: "signed-in" | "code-required"; readonly cookie: string };

const wrongCredentials = signInFailed("wrong-credentials");
const wrongCode = signInFailed("wrong-code");
const wrongLink = signInFailed("invalid-link");
const wrongPasskey = signInFailed("unknown-passkey");

/** How long a right password waits for its code. */
const CODE_STEP_MS = 10 * MINUTE_MS;
const CODE_COOKIE = "two_factor";

/**
 * Signs in with mail address and password. A wrong password, an unknown address and a disabled person get the same answer, in
 * about the same time.
 */
export async function signInWithPassword(
  context: PeopleContext,
  { email, password }: { readonly email: string; readonly password: string },
  visitor: Visitor,
): Promise<SignIn | Problem> {
  const account = normalEmail(email);
  const attempt = { purpose: "password", network: visitor.network, account } as const;
  const [, ofNetworkAtAccount] = bucketsOf(attempt);
  const tooMany = await takeAttempt(context, attempt);
  if (tooMany !== null) return tooMany;
  const stored = await readPasswordOf(context.db, account);
  const isRight = await isPassword(password, stored?.hash ?? null);
  if (stored === null) return wrongCredentials;
  if (!isRight) {
    // After the response: its time does not show whether a person has the address.
    recordFailure(context, stored.personId, visitor, "signInFailed").catch((err: unknown) =>
      context.log.warn({ err }, "failed sign-in not recorded"),
    );
    return wrongCredentials;
  }
  return inTransaction(context, async (tx) => {
    const person = await lockEnabled(tx, stored.personId);
    const present = await readPasswordOf(tx, account);
    // It was replaced while it was compared, or the address is that of another person now.
    if (person === null || present?.personId !== person.id || present.hash !== stored.hash)
      return wrongCredentials;
    await clear(tx, ofNetworkAtAccount);
    return person.hasTwoFactor
      ? requireCode(tx, context, person)
      : { status: "signed-in", cookie: await openSession(tx, context, person, visitor, "password") };
  });
}

/** The session that the browser has stays until the code is entered. */
async function requireCode(tx: Queryable, context: PeopleContext, { id }: Person): Promise<SignIn> {
  const token = makeToken();
  await insertCodeStep(tx, hashToken(token), id, after(context.clock.now(), CODE_STEP_MS));
  return { status: "code-required", cookie: setCookie(context, CODE_COOKIE, token, CODE_STEP_MS) };
}

/** Finishes a sign-in with the second factor. Five codes may follow a password, and ten of a person are wrong within 15 minutes. */
export async function signInWithCode(
  context: PeopleContext,
  code: Code,
  visitor: Visitor,
): Promise<SignIn | Problem> {
  const tokenHash = hashToken(readCookie(context, visitor.cookie, CODE_COOKIE) ?? "");
  const personId = await findPersonOfCodeStep(context.db, tokenHash, context.clock.now());
  if (personId === null) return codeStepEnded;
  const tooMany = await take(context.db, context, codesOfPerson(personId));
  if (tooMany !== null) return tooMany;
  return inTransaction(context, async (tx) => {
    const person = await lockEnabled(tx, personId);
    const mayFollow = person !== null && (await countCodeOfStep(tx, tokenHash, context.clock.now()));
    if (!mayFollow) return codeStepEnded;
    if (!person.hasTwoFactor || !(await useCode(tx, context, person.id, code))) return wrongCode;
    await deleteCodeStep(tx, tokenHash);
    await clear(tx, codesOfPerson(person.id));
    const method = code.isBackupCode ? "backup code" : "code";
    return { status: "signed-in", cookie: await openSession(tx, context, person, visitor, method) };
  });
}

const LINKS: readonly LinkKind[] = ["invitation", "sign-in", "demo"];

/**
 * Signs in with a link, and uses it up. Nothing limits attempts: a token cannot be guessed, and to look for it costs less than to
 * count.
 */
export async function signInWithLink(
  context: PeopleContext,
  token: string,
  visitor: Visitor,
): Promise<SignIn | Problem> {
  const [tokenHash, now] = [hashToken(token), context.clock.now()];
  const personId = isLinkToken(token) ? await findPersonOfLink(context.db, tokenHash, LINKS, now) : null;
  if (personId === null) return wrongLink;
  return inTransaction(context, async (tx) => {
    const person = await lockEnabled(tx, personId);
    const kind = await useLink(tx, tokenHash, LINKS, now);
    if (person === null || kind === null) return wrongLink;
    const cookie = await openSession(tx, context, person, visitor, `${kind} link`);
    return { status: "signed-in", cookie };
  });
}

/** Base64url. Another id is rejected without a look into the database. */
const CREDENTIAL_ID = /^[\w-]{1,1400}$/;

/**
 * Signs in with what the device has signed. The device has verified the person, so no code follows. Nothing limits attempts: a
 * signature cannot be guessed.
 */
export async function signInWithPasskey(
  context: PeopleContext,
  response: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<SignIn | Problem> {
  const { id } = response;
  const isId = typeof id === "string" && CREDENTIAL_ID.test(id);
  const credential = isId ? await readCredential(context.db, id) : null;
  if (credential === null) return wrongPasskey;
  const used = await verifyPasskey(context, credential, response, visitor);
  if (used === null) return wrongPasskey;
  return inTransaction(context, async (tx) => {
    const person = await lockEnabled(tx, credential.personId);
    if (person === null || !(await recordUse(tx, credential.id, used.counter))) return wrongPasskey;
    if (!(await useChallenge(tx, used.challengeHash, used.endsAt))) return wrongPasskey;
    return { status: "signed-in", cookie: await openSession(tx, context, person, visitor, "passkey") };
  });
}

/** Records that a password of a person was wrong, but not without end. */
export async function recordFailure(
  context: PeopleContext,
  personId: string,
  visitor: Visitor,
  action: "signInFailed" | "confirmFailed",
): Promise<void> {
  const person = await readPerson(context.db, personId);
  if (person === null || (await take(context.db, context, failuresOf(personId))) !== null) return;
  const details = { method: "password", ipAddress: visitor.ipAddress };
  await recordByPerson(context.db, context, person, visitor, action, details);
}

/** Stores that a right password waits for a code. */
async function insertCodeStep(
  tx: Queryable,
  tokenHash: Buffer,
  personId: string,
  expiresAt: Date,
): Promise<void> {
  await tx.query({
    name: "insert-code-step",
    text: "insert into person_code_steps (token_hash, person_id, tries, expires_at) values ($1, $2, 0, $3)",
    values: [tokenHash, personId, expiresAt],
  });
}

/** The person whose right password waits for a code. Null: that has ended. Only counting the code decides. */
async function findPersonOfCodeStep(db: Queryable, tokenHash: Buffer, now: Date): Promise<string | null> {
  const [row] = await db.query<{ person_id: string }>({
    name: "find-person-of-code-step",
    text: "select person_id from person_code_steps where token_hash = $1 and expires_at > $2 and tries < 5",
    values: [tokenHash, now],
  });
  return row?.person_id ?? null;
}

/** Counts a code that follows a password. Returns false if none may follow any more. */
async function countCodeOfStep(tx: Queryable, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.query({
    name: "count-code-of-step",
    text: `
      update person_code_steps set tries = tries + 1
      where token_hash = $1 and expires_at > $2 and tries < 5
      returning token_hash`,
    values: [tokenHash, now],
  });
  return rows.length > 0;
}

/** Uses up a right password that a right code has followed. */
async function deleteCodeStep(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.query({
    name: "delete-code-step",
    text: "delete from person_code_steps where token_hash = $1",
    values: [tokenHash],
  });
}
