import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Problem } from "../platform/wire/problems.ts";
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
import {
  endSessions,
  isRecent,
  lockSession,
  notSignedIn,
  type PersonSession,
  recentAuthenticationRequired,
  recordAuthentication,
  signInFailed,
} from "./sessions.ts";
import { recordFailure } from "./sign-in.ts";

// What people do with their own sign-in. Each change locks the session: one that has ended, perhaps because it was stolen, changes
// nothing.

export type Proof = { readonly password: string } | Code;

const wrongPassword = signInFailed("wrong-password");
const wrongCode = signInFailed("wrong-code");
const alreadySetUp = signInFailed("codes-set-up");

/** Confirms that the person of a session is still there, with its password or a code. With a passkey one signs in again instead. */
export async function confirmPerson(
  context: PeopleContext,
  opened: PersonSession,
  proof: Proof,
  visitor: Visitor,
): Promise<Problem | null> {
  const { person, session } = opened;
  const refused =
    "password" in proof
      ? await checkPassword(context, opened, proof.password, visitor)
      : await countCode(context, opened);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return notSignedIn;
    const isRight =
      "password" in proof || (person.hasTwoFactor && (await useOwnCode(tx, context, opened, proof)));
    if (!isRight) return wrongCode;
    await recordAuthentication(tx, session.id, context.clock.now());
    return null;
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
): Promise<Problem | null> {
  const tooMany = await take(context.db, context, proofsOfSession(session.id));
  if (tooMany !== null) return tooMany;
  const stored = await readPasswordHash(context.db, person.id);
  const isRight = password === undefined ? stored === null : await isPassword(password, stored);
  if (isRight) await clear(context.db, proofsOfSession(session.id));
  else await recordFailure(context, person.id, visitor, "confirmFailed");
  return isRight ? null : wrongPassword;
}

/** Counts a code before it is compared, for the session and for the person. Null: it may be compared. */
const countCode = async (
  context: PeopleContext,
  { person, session }: PersonSession,
): Promise<Problem | null> =>
  (await take(context.db, context, proofsOfSession(session.id))) ??
  take(context.db, context, codesOfPerson(person.id));

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
 * links end: who has stolen one loses it.
 */
export async function setPassword(
  context: PeopleContext,
  opened: PersonSession,
  password: string,
  visitor: Visitor,
): Promise<Problem | null> {
  const { person, session } = opened;
  if (!isRecent(session, context.clock.now())) return recentAuthenticationRequired;
  const passwordHash = await hashPassword(password);
  return inTransaction(context, async (tx) => {
    // It can have been ended while the password was hashed, by a reset of the owner.
    if (!(await lockSession(tx, opened))) return recentAuthenticationRequired;
    await storePassword(tx, person.id, passwordHash);
    await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, visitor, "setPassword", { sessionsEnded });
    return null;
  });
}

/** The secret for the person's device as a URI, and backup codes. They count once a code of the device was verified. */
export async function startSecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<{ uri: string; backupCodes: string[] } | Problem> {
  const refused = await checkPassword(context, opened, password, visitor);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return notSignedIn;
    const uri = await makeSecret(tx, context, opened.person);
    return uri === null ? alreadySetUp : { uri, backupCodes: await makeBackupCodes(tx, opened.person.id) };
  });
}

/** Proves that the device has the secret: from now on a password alone does not suffice. */
export async function verifySecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  code: string,
  visitor: Visitor,
): Promise<Problem | null> {
  const refused = await countCode(context, opened);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return notSignedIn;
    if (!(await useOwnCode(tx, context, opened, { code, isBackupCode: false }))) return wrongCode;
    if (await confirmSecret(tx, opened.person.id, context.clock.now()))
      await recordByPerson(tx, context, opened.person, visitor, "enableSecondFactor");
    return null;
  });
}

/** From now on a password alone suffices. All other sessions of the person end. */
export async function removeSecondFactor(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<Problem | null> {
  const refused = await checkPassword(context, opened, password, visitor);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    const { person, session } = opened;
    if (!(await lockSession(tx, opened))) return notSignedIn;
    await deleteCodes(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, visitor, "disableSecondFactor", { sessionsEnded });
    return null;
  });
}

/** New backup codes. The earlier ones are no longer valid. A session that was ended at the same time does not see the new ones. */
export async function renewBackupCodes(
  context: PeopleContext,
  opened: PersonSession,
  password: string | undefined,
  visitor: Visitor,
): Promise<{ backupCodes: string[] } | Problem> {
  const { person } = opened;
  if (!person.hasTwoFactor) return wrongPassword;
  const refused = await checkPassword(context, opened, password, visitor);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, opened))) return notSignedIn;
    const backupCodes = await makeBackupCodes(tx, person.id);
    await recordByPerson(tx, context, person, visitor, "renewBackupCodes");
    return { backupCodes };
  });
}
