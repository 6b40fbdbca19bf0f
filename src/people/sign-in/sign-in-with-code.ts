import { codeSucceeded, takeCode } from "../attempts/limit-sign-ins.ts";
import { readPersonOfStep } from "../auth/accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import { readPerson } from "../people-sql.ts";
import type { Person } from "../person.ts";
import { areCodesLost } from "../sealed-codes/are-codes-lost.ts";
import {
  codeStepCookieName,
  cookieValue,
  sessionCookieName,
  signedText,
  withoutCookie,
} from "../sessions/session-cookie.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { useCode } from "./use-code.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** A code of the person's device, or one of the backup codes, each of which is good once. */
export type Code = { readonly code: string; readonly isBackupCode: boolean };

/**
 * Finishes a sign-in with the second factor. better-auth accepts five attempts for each password, and locks the second factor
 * for 15 minutes after ten in a row: only who knows the password can cause that. We count ten as
 * well, before they are compared. So codes need no limit by address, which strangers could use up.
 */
export async function signInWithCode(people: People, code: Code, visitor: Visitor): Promise<SignIn> {
  // With a session the library would compare the code with that of its person, who may be another one.
  const cookie = withoutCookie(visitor.cookie, sessionCookieName(people.keys.isSecure));
  const person = await findPersonOfStep(people, visitor);
  const waitMs = person === null ? 0 : await takeCode(people, person.id);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  if (person !== null && (await areCodesLost(people, person, code)))
    return { outcome: "codes-lost", cookies: [] };
  const answer = await verifyCode(people, person, code, headersOf({ ...visitor, cookie }));
  if (answer.error !== null)
    return { outcome: STEP_ENDED.has(answer.error) ? "step-ended" : "failed", cookies: answer.cookies };
  if (person !== null) await codeSucceeded(people, person.id);
  const method = code.isBackupCode ? "backup code" : "code";
  return finishSignIn(people, answer, visitor, { method, beginning: person });
}

/** better-auth's names for a step that no code can finish: it had five wrong ones, or is too old, or there was none. */
const STEP_ENDED: ReadonlySet<string> = new Set([
  "INVALID_TWO_FACTOR_COOKIE",
  "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE",
]);

/** The person whose password was right on this browser. Null if the step has ended: then the library compares no code. */
async function findPersonOfStep({ db, keys }: People, { cookie }: Visitor): Promise<Person | null> {
  const value = cookieValue(cookie, codeStepCookieName(keys.isSecure));
  const step = value === null ? null : signedText(value, keys.cookieSecret);
  const personId = step === null ? null : await readPersonOfStep(db, step);
  return personId === null ? null : readPerson(db, personId);
}

/**
 * Compares a code with those of a person, and uses it up. better-auth uses up backup codes. It counts a one-time code that was used
 * as a wrong one.
 */
export async function verifyCode(
  people: People,
  person: Pick<Person, "id"> | null,
  { code, isBackupCode }: Code,
  headers: Headers,
): Promise<AuthAnswer> {
  const { api } = people.auth();
  if (isBackupCode)
    return readAnswer(await api.verifyBackupCode({ body: { code }, headers, asResponse: true }));
  const isUsable = person !== null && (await useCode(people, person.id, code));
  const body = { code: isUsable ? code : NO_CODE };
  return readAnswer(await api.verifyTOTP({ body, headers, asResponse: true }));
}

/** It is never right. */
const NO_CODE = "";
