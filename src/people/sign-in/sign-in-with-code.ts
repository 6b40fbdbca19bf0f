import { readAnswer } from "../auth/answers.ts";
import { sessionCookieName, withoutCookie } from "../sessions/session-cookie.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** A code of the person's device, or one of the backup codes, each of which is good once. */
export type Code = { readonly code: string; readonly isBackupCode: boolean };

/**
 * Finishes a sign-in with the second factor. better-auth accepts five attempts for each password, and locks the second factor
 * for 15 minutes after ten in a row: only who knows the password can cause that. So codes need no limit by address, which strangers could use up.
 */
export async function signInWithCode(people: People, code: Code, visitor: Visitor): Promise<SignIn> {
  // With a session the library would compare the code with that of its person, who may be another one.
  const cookie = withoutCookie(visitor.cookie, sessionCookieName(people.keys.isSecure));
  const answer = await verifyCode(people, code, headersOf({ ...visitor, cookie }));
  return answer.error === null
    ? finishSignIn(people, answer, visitor, code.isBackupCode ? "backup code" : "code")
    : { outcome: "failed", cookies: answer.cookies };
}

export async function verifyCode(people: People, { code, isBackupCode }: Code, headers: Headers) {
  const { api } = people.auth();
  const call = { body: { code }, headers, asResponse: true } as const;
  return readAnswer(isBackupCode ? await api.verifyBackupCode(call) : await api.verifyTOTP(call));
}
