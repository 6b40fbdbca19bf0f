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
import { type PeopleContext, recordByPerson } from "./person.ts";
import {
  endSessions,
  lockSession,
  notSignedIn,
  type Own,
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
export async function confirmPerson(context: PeopleContext, own: Own, proof: Proof): Promise<Problem | null> {
  const { person, session } = own;
  const refused =
    "password" in proof ? await checkPassword(context, own, proof.password) : await countCode(context, own);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, own))) return notSignedIn;
    const isRight =
      "password" in proof || (person.hasTwoFactor && (await useOwnCode(tx, context, own, proof)));
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
  own: Own,
  password: string | undefined,
): Promise<Problem | null> {
  const { person, session } = own;
  const tooMany = await take(context.db, context, proofsOfSession(session.id));
  if (tooMany !== null) return tooMany;
  const stored = await readPasswordHash(context.db, person.id);
  const isRight = password === undefined ? stored === null : await isPassword(password, stored);
  if (isRight) await clear(context.db, proofsOfSession(session.id));
  else await recordFailure(context, person.id, own, "confirmFailed");
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
  own: Own,
  password: string,
): Promise<Problem | null> {
  const { person, session } = own;
  const passwordHash = await hashPassword(password);
  return inTransaction(context, async (tx) => {
    // It can have been ended while the password was hashed, by a reset of the owner.
    if (!(await lockSession(tx, own))) return recentAuthenticationRequired;
    await storePassword(tx, person.id, passwordHash);
    await deleteLinks(tx, person.id, PERSONAL_LINKS, context.clock.now());
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, own, "setPassword", { sessionsEnded });
    return null;
  });
}

/** The secret for the person's device as a URI, and backup codes. They count once a code of the device was verified. */
export async function startSecondFactor(
  context: PeopleContext,
  own: Own,
  password: string | undefined,
): Promise<{ uri: string; backupCodes: string[] } | Problem> {
  const refused = await checkPassword(context, own, password);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, own))) return notSignedIn;
    const uri = await makeSecret(tx, context, own.person);
    return uri === null ? alreadySetUp : { uri, backupCodes: await makeBackupCodes(tx, own.person.id) };
  });
}

/** Proves that the device has the secret: from now on a password alone does not suffice. */
export async function verifySecondFactor(
  context: PeopleContext,
  own: Own,
  code: string,
): Promise<Problem | null> {
  const refused = await countCode(context, own);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, own))) return notSignedIn;
    if (!(await useOwnCode(tx, context, own, { code, isBackupCode: false }))) return wrongCode;
    if (await confirmSecret(tx, own.person.id, context.clock.now()))
      await recordByPerson(tx, context, own.person, own, "enableSecondFactor");
    return null;
  });
}

/** From now on a password alone suffices. All other sessions of the person end. */
export async function removeSecondFactor(
  context: PeopleContext,
  own: Own,
  password: string | undefined,
): Promise<Problem | null> {
  const refused = await checkPassword(context, own, password);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    const { person, session } = own;
    if (!(await lockSession(tx, own))) return notSignedIn;
    await deleteCodes(tx, person.id);
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    await recordByPerson(tx, context, person, own, "disableSecondFactor", { sessionsEnded });
    return null;
  });
}

/** New backup codes. The earlier ones are no longer valid. A session that was ended at the same time does not see the new ones. */
export async function renewBackupCodes(
  context: PeopleContext,
  own: Own,
  password: string | undefined,
): Promise<{ backupCodes: string[] } | Problem> {
  const { person } = own;
  if (!person.hasTwoFactor) return wrongPassword;
  const refused = await checkPassword(context, own, password);
  if (refused !== null) return refused;
  return inTransaction(context, async (tx) => {
    if (!(await lockSession(tx, own))) return notSignedIn;
    const backupCodes = await makeBackupCodes(tx, person.id);
    await recordByPerson(tx, context, person, own, "renewBackupCodes");
    return { backupCodes };
  });
}
