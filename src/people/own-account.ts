import { recordAudit } from "../audit/record-audit.ts";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { after, MINUTE_MS, systemClock } from "../platform/time.ts";
import { countCode, deleteSecondFactor, forgetWrongCodes, readPasswordHash } from "./accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "./library/answers.ts";
import { attemptSucceeded, takeAttempt } from "./limit-attempts.ts";
import { areCodesLost } from "./sealed-codes.ts";
import { endSignIns, finishSession, lockSession } from "./sessions.ts";
import { continueSession, deleteSession, type PersonSession, recordAuthentication } from "./sessions-sql.ts";
import { byPerson, openedToken, recordFailure } from "./sign-in/finish-sign-in.ts";
import {
  deviceCookie,
  headersOf,
  isPassword,
  knownDevice,
  type People,
  type Visitor,
} from "./sign-in/people.ts";
import { type Code, verifyCode } from "./sign-in/with-code.ts";

export type Proof = { readonly password: string } | Code;

/**
 * Confirms that the person of a session is still there, with its password or a code. With a passkey one signs in again
 * instead.
 */
export async function confirmPerson(
  people: People,
  opened: PersonSession,
  proof: Proof,
  visitor: Visitor,
): Promise<{ outcome: "confirmed" | "failed" | "codes-lost" } | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, () => compare(people, opened, proof, visitor));
  if ("outcome" in answer) return answer;
  if (answer.error !== null) return { outcome: answer.error === CODES_LOST ? "codes-lost" : "failed" };
  await recordAuthentication(people.db, opened.session.id, people.clock.now());
  return { outcome: "confirmed" };
}

async function compare(
  people: People,
  opened: PersonSession,
  proof: Proof,
  visitor: Visitor,
): Promise<Pick<AuthAnswer, "error">> {
  const { id, hasTwoFactor } = opened.person;
  if ("password" in proof)
    return { error: (await isPassword(people, id, proof.password)) ? null : WRONG_PASSWORD };
  return hasTwoFactor ? compareOwnCode(people, opened, proof, visitor) : { error: "TWO_FACTOR_NOT_ENABLED" };
}

/** Wrong codes in a row, and how long none is accepted then: better-auth's own limits for the codes of a sign-in. */
const WRONG_CODES_MAX = 10;
const LOCKED_MS = 15 * MINUTE_MS;

/** No code of the person can be right: it removes the codes and sets them up again. */
export const CODES_LOST = "CODES_LOST";
const LOST: AuthAnswer = { error: CODES_LOST, cookies: [], body: {}, location: null };

const LOCKED: AuthAnswer = { error: "ACCOUNT_TEMPORARILY_LOCKED", cookies: [], body: {}, location: null };

/**
 * Compares a code of a person who has signed in. better-auth counts wrong codes at the sign-in only, so this adds to the same
 * count: ten in a row, wherever they are sent, and none is accepted for 15 minutes.
 */
async function compareOwnCode(
  people: People,
  { person }: PersonSession,
  code: Code,
  visitor: Visitor,
): Promise<AuthAnswer> {
  if (await areCodesLost(people, person, code)) return LOST;
  const now = systemClock.now(); // better-auth compares the end of the lock with the time of the system.
  const lockedUntil = after(now, LOCKED_MS);
  if (!(await countCode(people.db, { personId: person.id, max: WRONG_CODES_MAX, now, lockedUntil })))
    return LOCKED;
  const answer = await verifyCode(people, person, code, headersOf(visitor));
  if (answer.error === null) await forgetWrongCodes(people.db, person.id);
  return answer;
}

/** Ends one of the person's own sessions. Returns whether there was one. */
export const endOwnSession = (
  people: People,
  opened: PersonSession,
  sessionId: string,
  visitor: Visitor,
): Promise<boolean> =>
  inTransaction(people, async (tx) => {
    if (!(await deleteSession(tx, opened.person.id, sessionId))) return false;
    await recordAudit(tx, people, byPerson(opened, visitor, "endSession"), {
      merchantId: null,
      subject: "per",
      ids: [opened.person.id],
      details: { session: toTypeId("ses", sessionId) },
    });
    return true;
  });

/**
 * Signs the person out everywhere but here. Returns the cookie that keeps the browser known. Null: the session itself has ended.
 */
export const endOtherSessions = (
  people: People,
  opened: PersonSession,
  visitor: Visitor,
): Promise<string | null> =>
  inTransaction(people, async (tx) => {
    const { id } = opened.person;
    if (!(await lockSession(tx, opened))) return null;
    const { sessionsEnded, signInVersion } = await endSignIns(tx, id, opened.session.id);
    if (sessionsEnded > 0)
      await recordAudit(tx, people, byPerson(opened, visitor, "endOtherSessions"), {
        merchantId: null,
        subject: "per",
        ids: [id],
        details: { sessionsEnded },
      });
    return deviceCookie({ id, signInVersion }, people.keys);
  });

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

/** Nothing was compared: there were too many attempts before. */
type TooManyAttempts = { readonly outcome: "too-many-attempts"; readonly waitMs: number };

/** better-auth's name for a wrong password, and for one that is missing. */
const WRONG_PASSWORD = "INVALID_PASSWORD";

/**
 * Compares a password or a code of a person who has signed in. It is an attempt as a sign-in is: who finds an open browser,
 * or steals a cookie, must not guess without a limit.
 */
async function tryProof<Answer extends Pick<AuthAnswer, "error">>(
  people: People,
  { person, session }: PersonSession,
  visitor: Visitor,
  compare: () => Promise<Answer>,
): Promise<Answer | TooManyAttempts> {
  // A session proves the browser as well, also after a change of the mail address.
  const device = (await knownDevice(people, visitor.cookie, person.email)) ?? session.id;
  const attempt = { purpose: "password", network: visitor.network, account: person.email, device } as const;
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const answer = await compare();
  if (answer.error === null) await attemptSucceeded(people, attempt);
  if (answer.error === WRONG_PASSWORD) await recordFailure(people, person, visitor, "confirmFailed");
  return answer;
}
