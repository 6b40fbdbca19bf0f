import { attemptSucceeded, takeAttempt } from "../attempts/limit-sign-ins.ts";
import type { PersonSession } from "../sessions/session.ts";
import { recordAuthentication } from "../sessions/sessions-sql.ts";
import { knownDevice } from "./known-device.ts";
import { isPassword } from "./passwords.ts";
import type { People } from "./people.ts";
import { type Code, verifyCode } from "./sign-in-with-code.ts";
import { headersOf, type Visitor } from "./visitor.ts";

export type Proof = { readonly password: string } | Code;

/**
 * Confirms that the person of a session is still there, with its password or a code. With a passkey one signs in again
 * instead.
 */
export async function confirmPerson(
  people: People,
  { person, session }: PersonSession,
  proof: Proof,
  visitor: Visitor,
): Promise<{ outcome: "confirmed" | "failed" } | { outcome: "too-many-attempts"; waitMs: number }> {
  const device = knownDevice(visitor.cookie, person.email, people.keys);
  const attempt = { network: visitor.network, account: person.email, device };
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const isRight =
    "password" in proof
      ? await isPassword(people, person.id, proof.password)
      : person.hasTwoFactor && (await verifyCode(people, proof, headersOf(visitor))).error === null;
  if (!isRight) return { outcome: "failed" };
  await attemptSucceeded(people, attempt);
  await recordAuthentication(people.db, session.id, people.clock.now());
  return { outcome: "confirmed" };
}
