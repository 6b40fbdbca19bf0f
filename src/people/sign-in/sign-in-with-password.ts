import { inTransaction } from "../../platform/context.ts";
import { attemptSucceeded, takeAttempt } from "../attempts/limit-sign-ins.ts";
import { deleteCodeStep } from "../auth/accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import { readPersonByEmail } from "../people-sql.ts";
import { normalEmail, type Person } from "../person.ts";
import {
  codeStepCookieName,
  sessionCookieName,
  setSignedText,
  withoutSetCookie,
} from "../sessions/session-cookie.ts";
import { lockSignIns } from "../sessions/sign-ins-sql.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import { knownDevice } from "./known-device.ts";
import { isPassword } from "./passwords.ts";
import type { People } from "./people.ts";
import { recordFailure } from "./record-failure.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/**
 * Signs in with mail address and password. A wrong password, an unknown address and a disabled person get the same answer, in
 * about the same time.
 */
export async function signInWithPassword(
  people: People,
  { email, password }: { readonly email: string; readonly password: string },
  visitor: Visitor,
): Promise<SignIn> {
  const account = normalEmail(email);
  const device = await knownDevice(people, visitor.cookie, account);
  const attempt = { purpose: "password", network: visitor.network, account, device } as const;
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const person = await readPersonByEmail(people.db, account);
  const isRight = await isPassword(people, person?.id ?? null, password);
  const answer = isRight && person !== null ? await openSession(people, person, visitor) : null;
  if (person === null || answer === null || answer.error !== null) {
    // After the response: its time does not show whether a person has the address.
    if (person !== null)
      recordFailure(people, person, visitor, "signInFailed").catch((err: unknown) =>
        people.log.warn({ err }, "failed sign-in not recorded"),
      );
    return { outcome: "failed", cookies: [] };
  }
  await attemptSucceeded(people, attempt);
  return answer.body["twoFactorRedirect"] === true
    ? requireCode(people, answer, person)
    : finishSignIn(people, answer, visitor, { method: "password", beginning: person });
}

/** Opens a session, or the step of the code. */
async function openSession(people: People, { id }: Person, visitor: Visitor): Promise<AuthAnswer> {
  return readAnswer(
    await people.auth().api.openPasswordSession({
      body: { personId: id },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
}

/**
 * The session that the browser has stays until the code is entered. So its cookie must stay, too. If the sign-ins of the person
 * have ended since this one began, its step ends as well: it was perhaps stored after the others were deleted.
 */
async function requireCode(people: People, { cookies }: AuthAnswer, person: Person): Promise<SignIn> {
  const { isSecure, cookieSecret } = people.keys;
  const step = setSignedText(cookies, codeStepCookieName(isSecure), cookieSecret);
  const isPresent = await inTransaction(people, async (tx) => {
    if (await lockSignIns(tx, person)) return true;
    if (step !== null) await deleteCodeStep(tx, step);
    return false;
  });
  return isPresent
    ? { outcome: "code-required", cookies: withoutSetCookie(cookies, sessionCookieName(isSecure)) }
    : { outcome: "failed", cookies: [] };
}
