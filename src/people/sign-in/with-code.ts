import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND_MS, systemClock } from "../../platform/time.ts";
import { readPersonOfStep, takeCodeStep } from "../accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../library/answers.ts";
import { factorBoxOf } from "../library/auth-secrets.ts";
import { codeSucceeded, takeCode } from "../limit-attempts.ts";
import { readPerson } from "../people-sql.ts";
import type { Person } from "../person.ts";
import { areCodesLost, readSealedCodes } from "../sealed-codes.ts";
import {
  codeStepCookieName,
  cookieValue,
  sessionCookieName,
  signedText,
  withoutCookie,
} from "../session-cookie.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import { headersOf, type People, type Visitor } from "./people.ts";

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

/** RFC 6238 as better-auth does it: the step before and the one after are accepted as well, since clocks differ. */
const STEP_MS = 30 * SECOND_MS;
const STEPS_ACCEPTED = [1, 0, -1];

/**
 * Compares a one-time code of a person's device, and uses it up: it is accepted once, wherever it is sent (RFC 6238, section 5.2).
 * better-auth compares it again, but does not remember it. If the sign-in fails afterwards, the person waits for the next code.
 */
async function useCode(people: People, personId: string, code: string): Promise<boolean> {
  const sealed = await readSealedCodes(people.db, personId);
  const secret = sealed === null ? null : await factorBoxOf(people.secrets).open(sealed.secret);
  if (secret === null) return false;
  const now = Math.floor(systemClock.now().getTime() / STEP_MS); // better-auth takes the time of the system.
  const step = STEPS_ACCEPTED.map((distance) => now + distance).find((at) => isCodeOf(secret, at, code));
  return step !== undefined && takeCodeStep(people.db, personId, step);
}

/** The code of a time step is that of HOTP (RFC 4226, section 5.3), with six digits. */
function isCodeOf(secret: string, step: number, code: string): boolean {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000;
  const expected = Buffer.from(String(number).padStart(6, "0"));
  const sent = Buffer.from(code);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
