import type { AuthAnswer } from "../auth/answers.ts";
import type { PersonSession } from "../sessions/session.ts";
import { recordAuthentication } from "../sessions/sessions-sql.ts";
import { isPassword } from "../sign-in/passwords.ts";
import type { People } from "../sign-in/people.ts";
import type { Code } from "../sign-in/sign-in-with-code.ts";
import type { Visitor } from "../sign-in/visitor.ts";
import { CODES_LOST, compareOwnCode } from "./compare-own-code.ts";
import { type TooManyAttempts, tryProof, WRONG_PASSWORD } from "./try-proof.ts";

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
