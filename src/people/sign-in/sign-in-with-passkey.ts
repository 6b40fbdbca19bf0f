import type { Queryable } from "../../platform/database/database.ts";
import type { AuthAnswer } from "../auth/answers.ts";
import { findPersonOfPasskey } from "../own-account/passkeys-sql.ts";
import { askWithChallenge, compareWithChallenge } from "../passkeys/browser-challenge.ts";
import { takeChallenge } from "../passkeys/challenges-sql.ts";
import { readPerson } from "../people-sql.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** What the browser needs to ask for a passkey (WebAuthn), and the cookies of the challenge. */
export async function passkeyOptions(people: People, visitor: Visitor): Promise<AuthAnswer> {
  const { api } = people.auth();
  const answer = await askWithChallenge(people, () =>
    api.generatePasskeyAuthenticationOptions({ headers: headersOf(visitor), asResponse: true }),
  );
  // The library always says "preferred". But a device that does not verify the person is rejected.
  return { ...answer, body: { ...answer.body, userVerification: "required" } };
}

/** Base64url. Another id is rejected without a look into the database. */
const isCredentialId = (id: unknown): id is string => typeof id === "string" && /^[A-Za-z0-9_-]+$/.test(id);

/**
 * Signs in with what the device has signed. The device has verified the person, so no code follows. Nothing limits attempts: a
 * signature cannot be guessed.
 */
export async function signInWithPasskey(
  people: People,
  response: Readonly<Record<string, unknown>>,
  visitor: Visitor,
): Promise<SignIn> {
  const { id } = response;
  const personId = isCredentialId(id) ? await findPersonOfPasskey(people.db, id) : null;
  const beginning = personId === null ? null : await readPerson(people.db, personId);
  if (beginning === null) return { outcome: "failed", cookies: [] };
  const { api } = people.auth();
  const compared = await compareWithChallenge(people, visitor, () =>
    api.verifyPasskeyAuthentication({
      // The library checks each member itself. Only its types are those of browsers.
      body: { response } as never,
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  if (compared === null || compared.answer.error !== null) return { outcome: "failed", cookies: [] };
  const { answer, challenge } = compared;
  const takeProof = (tx: Queryable): Promise<boolean> =>
    takeChallenge(tx, { ...challenge, id: people.newId(), now: people.clock.now() });
  return finishSignIn(people, answer, visitor, { method: "passkey", beginning, takeProof });
}
