import { inTransaction } from "../../platform/context.ts";
import { attemptSucceeded, takeAttempt } from "../attempts/limit-sign-ins.ts";
import { deleteCodeSteps } from "../auth/accounts-sql.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import { readPersonByEmail } from "../people-sql.ts";
import { normalEmail, type Person } from "../person.ts";
import { cookieValue, sessionCookieName } from "../sessions/session-cookie.ts";
import { deleteSession } from "../sessions/sessions-sql.ts";
import { finishSignIn, openedSession, type SignIn } from "./finish-sign-in.ts";
import { knownDevice } from "./known-device.ts";
import { findHash, isPresent } from "./passwords.ts";
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
  const device = knownDevice(visitor.cookie, account, people.keys);
  const attempt = { purpose: "password", network: visitor.network, account, device } as const;
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const person = await readPersonByEmail(people.db, account);
  const hash = await findHash(people, person?.id ?? null, password);
  const answer = hash !== null && person !== null ? await openSession(people, person, hash, visitor) : null;
  if (answer === null || answer.error !== null) {
    // After the response: its time does not show whether a person has the address.
    if (person !== null)
      recordFailure(people, person, visitor, "signInFailed").catch((err: unknown) =>
        people.log.warn({ err }, "failed sign-in not recorded"),
      );
    return { outcome: "failed", cookies: [] };
  }
  await attemptSucceeded(people, attempt);
  if (answer.body["twoFactorRedirect"] === true) return codeRequired(people, answer);
  return finishSignIn(people, answer, visitor, "password");
}

/** The session that the browser has stays until the code is entered. So its cookie must stay, too. */
function codeRequired({ keys }: People, { cookies }: AuthAnswer): SignIn {
  const name = sessionCookieName(keys.isSecure);
  return {
    outcome: "code-required",
    cookies: cookies.filter((cookie) => cookieValue(cookie, name) === null),
  };
}

/**
 * Opens a session, or the step of the code. Null if the password was replaced while it was compared: that ended all sessions,
 * perhaps before there was this one.
 */
async function openSession(
  people: People,
  { id }: Person,
  hash: string,
  visitor: Visitor,
): Promise<AuthAnswer | null> {
  const answer = await readAnswer(
    await people.auth().api.openPasswordSession({
      body: { personId: id },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  if (answer.error !== null || (await isPresent(people, id, hash))) return answer;
  const opened = await openedSession(people, answer.cookies);
  await inTransaction(people, async (tx) => {
    if (opened !== null) await deleteSession(tx, id, opened.session.id);
    await deleteCodeSteps(tx, id);
  });
  return null;
}
