import { attemptSucceeded, takeAttempt } from "../attempts/limit-sign-ins.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import type { PersonSession } from "../sessions/session.ts";
import { knownDevice } from "../sign-in/known-device.ts";
import type { People } from "../sign-in/people.ts";
import { recordFailure } from "../sign-in/record-failure.ts";
import type { Visitor } from "../sign-in/visitor.ts";

/** Nothing was compared: there were too many attempts before. */
export type TooManyAttempts = { readonly outcome: "too-many-attempts"; readonly waitMs: number };

/** better-auth's name for a wrong password, and for one that is missing. */
export const WRONG_PASSWORD = "INVALID_PASSWORD";

/**
 * Compares a password or a code of a person who has signed in. It is an attempt as a sign-in is: who finds an open browser,
 * or steals a cookie, must not guess without a limit.
 */
export async function tryProof<Answer extends Pick<AuthAnswer, "error">>(
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
