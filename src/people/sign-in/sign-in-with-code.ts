import { codeSucceeded, takeCode } from "../attempts/limit-sign-ins.ts";
import { readPersonOfStep } from "../auth/accounts-sql.ts";
import { readAnswer } from "../auth/answers.ts";
import { readPerson } from "../people-sql.ts";
import type { Person } from "../person.ts";
import {
  codeStepCookieName,
  cookieValue,
  sessionCookieName,
  signedText,
  withoutCookie,
} from "../sessions/session-cookie.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
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
  const answer = await verifyCode(people, code, headersOf({ ...visitor, cookie }));
  if (answer.error !== null) return { outcome: "failed", cookies: answer.cookies };
  if (person !== null) await codeSucceeded(people, person.id);
  const method = code.isBackupCode ? "backup code" : "code";
  return finishSignIn(people, answer, visitor, { method, beginning: person });
}

/** The person whose password was right on this browser. Null if the step has ended: then the library compares no code. */
async function findPersonOfStep({ db, keys }: People, { cookie }: Visitor): Promise<Person | null> {
  const value = cookieValue(cookie, codeStepCookieName(keys.isSecure));
  const step = value === null ? null : signedText(value, keys.cookieSecret);
  const personId = step === null ? null : await readPersonOfStep(db, step);
  return personId === null ? null : readPerson(db, personId);
}

export async function verifyCode(people: People, { code, isBackupCode }: Code, headers: Headers) {
  const { api } = people.auth();
  const call = { body: { code }, headers, asResponse: true } as const;
  return readAnswer(isBackupCode ? await api.verifyBackupCode(call) : await api.verifyTOTP(call));
}
