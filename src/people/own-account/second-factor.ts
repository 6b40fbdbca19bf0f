import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { deleteSecondFactor, readPasswordHash } from "../auth/accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import { areCodesLost } from "../sealed-codes/are-codes-lost.ts";
import { endSignIns, lockSession } from "../sessions/end-sign-ins.ts";
import { finishSession } from "../sessions/finish-session.ts";
import type { PersonSession } from "../sessions/session.ts";
import { continueSession } from "../sessions/sessions-sql.ts";
import { byPerson, openedToken } from "../sign-in/finish-sign-in.ts";
import { deviceCookie } from "../sign-in/known-device.ts";
import { isPassword } from "../sign-in/passwords.ts";
import type { People } from "../sign-in/people.ts";
import { headersOf, type Visitor } from "../sign-in/visitor.ts";
import { CODES_LOST, compareOwnCode } from "./compare-own-code.ts";
import { type TooManyAttempts, tryProof, WRONG_PASSWORD } from "./try-proof.ts";

/** better-auth asks for the password of a person who has one, beside the recent authentication. */
type Password = { readonly password?: string | undefined };

const bodyOf = ({ password }: Password) => (password === undefined ? {} : { password });

const failure = (error: string): AuthAnswer => ({ error, cookies: [], body: {}, location: null });

/** The session was ended at the same time, perhaps because it was stolen. */
const SESSION_ENDED = failure("SESSION_ENDED");

/** better-auth's name for codes that are required already. */
export const ALREADY_SET_UP = "TOTP_ALREADY_ENABLED";

/** The secret for the person's device as a URI, and backup codes. It counts once a code of the device was verified. */
export const startSecondFactor = (
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> =>
  tryProof(people, opened, visitor, async () => {
    // better-auth looks for stored codes alone. Those of this person may be lost, and it must remove them first.
    if (opened.person.hasTwoFactor)
      return failure((await isOwnPassword(people, opened, password)) ? ALREADY_SET_UP : WRONG_PASSWORD);
    return readAnswer(
      await people.auth().api.enableTwoFactor({
        body: { ...bodyOf(password), method: "totp" },
        headers: headersOf(visitor),
        asResponse: true,
      }),
    );
  });

/**
 * Proves that the device has the secret: from now on a password alone does not suffice. better-auth then replaces the session of the
 * browser, and the new one ends when the earlier one would have ended: a code of a secret that has just been shown proves no person.
 */
export async function verifySecondFactor(
  people: People,
  opened: PersonSession,
  code: string,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, () =>
    compareOwnCode(people, opened, { code, isBackupCode: false }, visitor),
  );
  if ("outcome" in answer || answer.error !== null || opened.person.hasTwoFactor) return answer;
  const token = openedToken(people, answer.cookies);
  const isFinished = await inTransaction(people, async (tx) => {
    if (token !== null) {
      const finished = await finishSession(tx, opened.person, token);
      if (finished === null) {
        await deleteSecondFactor(tx, opened.person.id, people.clock.now());
        return false;
      }
      await continueSession(tx, finished.session.id, opened.session);
    }
    await record(tx, people, opened, visitor, "enableSecondFactor");
    return true;
  });
  return isFinished ? answer : SESSION_ENDED;
}

/** From now on a password alone suffices. All other sessions of the person end. */
export const removeSecondFactor = (
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<Pick<AuthAnswer, "error" | "cookies"> | TooManyAttempts> =>
  tryProof(people, opened, visitor, async () => {
    if (!(await isOwnPassword(people, opened, password))) return { error: WRONG_PASSWORD, cookies: [] };
    return inTransaction(people, async (tx) => {
      const { person, session } = opened;
      if (!(await lockSession(tx, opened))) return SESSION_ENDED;
      await deleteSecondFactor(tx, person.id, people.clock.now());
      const { sessionsEnded, signInVersion } = await endSignIns(tx, person.id, session.id);
      await record(tx, people, opened, visitor, "disableSecondFactor", { sessionsEnded });
      return { error: null, cookies: [deviceCookie({ id: person.id, signInVersion }, people.keys)] };
    });
  });

/** A person who has no password sends none. */
const isOwnPassword = async (
  people: People,
  { person }: PersonSession,
  { password }: Password,
): Promise<boolean> =>
  password === undefined
    ? (await readPasswordHash(people.db, person.id)) === null
    : isPassword(people, person.id, password);

/** New backup codes. The earlier ones are no longer valid. A session that was ended at the same time does not see the new ones. */
export async function renewBackupCodes(
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, async () => {
    // Without them, backup codes alone would be left.
    if (await areCodesLost(people, opened.person, { isBackupCode: false })) return failure(CODES_LOST);
    return readAnswer(
      await people.auth().api.generateBackupCodes({
        body: bodyOf(password),
        headers: headersOf(visitor),
        asResponse: true,
      }),
    );
  });
  if ("outcome" in answer || answer.error !== null) return answer;
  const isPresent = await inTransaction(people, async (tx) => {
    const isOpen = await lockSession(tx, opened);
    await record(tx, people, opened, visitor, "renewBackupCodes");
    return isOpen;
  });
  return isPresent ? answer : SESSION_ENDED;
}

const record = (
  db: Queryable,
  people: People,
  opened: PersonSession,
  visitor: Visitor,
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(db, people, byPerson(opened, visitor, action), {
    merchantId: null,
    subject: "per",
    ids: [opened.person.id],
    details,
  });
