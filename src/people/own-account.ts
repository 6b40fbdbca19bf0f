import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { clear, codesOfPerson, proofsOfSession, take } from "./limit-attempts.ts";
import { deleteLinks, PERSONAL_LINKS } from "./links.ts";
import {
  type Code,
  confirmSecret,
  deleteCodes,
  makeBackupCodes,
  makeSecret,
  useCode,
} from "./one-time-codes.ts";
import { hashPassword, isPassword, readPasswordHash, storePassword } from "./passwords.ts";
import { type PeopleContext, recordByPerson, type Visitor } from "./person.ts";
import { endSessions, isRecent, lockSession, type PersonSession, recordAuthentication } from "./sessions.ts";
import { recordFailure } from "./sign-in.ts";

// What people do with their own sign-in. Each change locks the session: one that has ended, perhaps because it was stolen, changes
// nothing.

export type Proof = { readonly password: string } | Code;

/** Why something was not done. A number: there were too many attempts, and so many milliseconds to wait. */
export type Failure = "wrong-password" | "wrong-code" | "session-ended" | number;

/** Confirms that the person of a session is still there, with its password or a code. With a passkey one signs in again instead. */
export async function confirmPerson(
  context: PeopleContext,
  opened: PersonSession,
  proof: Proof,
  visitor: Visitor,
): Promise<"confirmed" | Failure> {
  const { person, session } = opened;
  const failure =
    "password" in proof
      ? await checkPassword(context, opened, proof.password, visitor)
      : await countCode(context, opened);
  if (failure !== null) return failure;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return "session-ended";
    const isRight =
      "password" in proof || (person.hasTwoFactor && (await useOwnCode(tx, context, opened, proof)));
    if (!isRight) return "wrong-code";
    await recordAuthentication(tx, session.id, context.clock.now());
    return "confirmed";
  });
}

/**
 * Compares the password of a person who has signed in. It is counted for the session: with an open browser or a stolen cookie one must not guess without a limit. Null: it is right.
 * @param password undefined is right for a person who has none
 */
async function checkPassword(
  context: PeopleContext,
  { person, session }: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<Failure | null> {
  const waitMs = await take(context.db, context, proofsOfSession(session.id));
  if (waitMs > 0) return waitMs;
  const stored = await readPasswordHash(context.db, person.id);
  const isRight = password === undefined ? stored === null : await isPassword(password, stored);
  if (isRight) await clear(context.db, proofsOfSession(session.id));
  else await recordFailure(context, person.id, visitor, "confirmFailed");
  return isRight ? null : "wrong-password";
}

/** Counts a code before it is compared, for the session and for the person. Null: it may be compared. */
async function countCode(
  context: PeopleContext,
  { person, session }: PersonSession,
): Promise<Failure | null> {
  for (const bucket of [proofsOfSession(session.id), codesOfPerson(person.id)]) {
    const waitMs = await take(context.db, context, bucket);
    if (waitMs > 0) return waitMs;
  }
  return null;
}

/** Compares a code that was counted, and uses it up. */
async function useOwnCode(
  tx: Queryable,
  context: PeopleContext,
  { person, session }: PersonSession,
  code: Code,
): Promise<boolean> {
  const isRight = await useCode(tx, context, person.id, code);
  if (isRight) await clear(tx, proofsOfSession(session.id), codesOfPerson(person.id));
  return isRight;
}

/**
 * Sets or replaces the password of a person who has proved recently who it is. All of its other sessions and its
 * links end: who has stolen one loses it. False: the proof is too old, or the session has ended.
 */
export async function setPassword(
  context: PeopleContext,
  opened: PersonSession,
  password: string,
  visitor: Visitor,
): Promise<boolean> {
  const { person, session } = opened;
  if (!isRecent(session, context.clock.now())) return false;
  const passwordHash = await hashPassword(password);
  return inTransaction(context, async (tx) => {
    // It can have been ended while the password was hashed, by a reset of the owner.
    if (!(await lockSession(tx, opened))) return false;
    await storePassword(tx, person.id, passwordHash);
    await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, visitor, "setPassword", { sessionsEnded });
    return true;
  });
}

/** The secret for the person's device as a URI, and backup codes. They count once a code of the device was verified. */
export async function startSecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<{ uri: string; backupCodes: string[] } | "already-set-up" | Failure> {
  const failure = await checkPassword(context, opened, password, visitor);
  if (failure !== null) return failure;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return "session-ended";
    const uri = await makeSecret(tx, context, opened.person);
    return uri === null
      ? "already-set-up"
      : { uri, backupCodes: await makeBackupCodes(tx, opened.person.id) };
  });
}

/** Proves that the device has the secret: from now on a password alone does not suffice. */
export async function verifySecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  code: string,
  visitor: Visitor,
): Promise<"verified" | Failure> {
  const failure = await countCode(context, opened);
  if (failure !== null) return failure;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return "session-ended";
    if (!(await useOwnCode(tx, context, opened, { code, isBackupCode: false }))) return "wrong-code";
    if (await confirmSecret(tx, opened.person.id, context.clock.now()))
      await recordByPerson(tx, context, opened.person, visitor, "enableSecondFactor");
    return "verified";
  });
}

/** From now on a password alone suffices. All other sessions of the person end. */
export async function removeSecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<"removed" | Failure> {
  const failure = await checkPassword(context, opened, password, visitor);
  if (failure !== null) return failure;
  return inTransaction(context, async (tx) => {
    const { person, session } = opened;
    if (!(await lockSession(tx, opened))) return "session-ended";
    await deleteCodes(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, visitor, "disableSecondFactor", { sessionsEnded });
    return "removed";
  });
}

/** New backup codes. The earlier ones are no longer valid. A session that was ended at the same time does not see the new ones. */
export async function renewBackupCodes(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<{ backupCodes: string[] } | Failure> {
  const { person } = opened;
  if (!person.hasTwoFactor) return "wrong-password";
  const failure = await checkPassword(context, opened, password, visitor);
  if (failure !== null) return failure;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return "session-ended";
    const backupCodes = await makeBackupCodes(tx, person.id);
    await recordByPerson(tx, context, person, visitor, "renewBackupCodes");
    return { backupCodes };
  });
}
