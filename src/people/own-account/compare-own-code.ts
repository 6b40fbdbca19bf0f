import { systemClock } from "../../platform/clock.ts";
import { after, MINUTE_MS } from "../../platform/time.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import { countCode, forgetWrongCodes } from "../auth/wrong-codes-sql.ts";
import { areCodesLost } from "../sealed-codes/are-codes-lost.ts";
import type { PersonSession } from "../sessions/session.ts";
import type { People } from "../sign-in/people.ts";
import { type Code, verifyCode } from "../sign-in/sign-in-with-code.ts";
import { headersOf, type Visitor } from "../sign-in/visitor.ts";

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
export async function compareOwnCode(
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
