import { attemptSucceeded, takeAttempt } from "../attempts/limit-sign-ins.ts";
import { readAnswer } from "../auth/answers.ts";
import { normalEmail } from "../person.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import { knownDevice } from "./known-device.ts";
import type { People } from "./people.ts";
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
  const attempt = { network: visitor.network, account, device };
  const waitMs = await takeAttempt(people, attempt);
  if (waitMs > 0) return { outcome: "too-many-attempts", waitMs };
  const answer = await readAnswer(
    await people.auth().api.signInEmail({
      body: { email: account, password },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  if (answer.error !== null) return { outcome: "failed", cookies: [] };
  await attemptSucceeded(people, attempt);
  if (answer.body["twoFactorRedirect"] === true) return { outcome: "code-required", cookies: answer.cookies };
  return finishSignIn(people, answer, visitor, "password");
}
