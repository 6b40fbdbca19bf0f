import { inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { askWithChallenge, compareWithChallenge, takeChallenge } from "../challenges.ts";
import { type AuthAnswer, readAnswer } from "../library/answers.ts";
import { findPersonOfLink, hashLinkToken, isLinkToken, type LinkKind, useLink } from "../links.ts";
import { findPersonOfPasskey } from "../passkeys.ts";
import { lockPerson, readPerson, recordVerifiedEmail } from "../people-sql.ts";
import type { Person } from "../person.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import { headersOf, type People, type Visitor } from "./people.ts";

const KINDS: readonly LinkKind[] = ["invitation", "sign-in", "demo"];

/**
 * Signs in with a link, and uses it up. If the process ends before the response, the link is used up without a session: the
 * person asks for another one. Nothing limits attempts: a token cannot be guessed, and to look for it costs less than to count.
 */
export async function signInWithLink(people: People, token: string, visitor: Visitor): Promise<SignIn> {
  const used = isLinkToken(token) ? await takeLink(people, hashLinkToken(token)) : null;
  if (used === null) return { outcome: "failed", cookies: [] };
  const answer = await readAnswer(
    await people.auth().api.openSession({
      body: { personId: used.person.id },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  return answer.error === null
    ? finishSignIn(people, answer, visitor, { method: `${used.kind} link`, beginning: used.person })
    : { outcome: "failed", cookies: [] };
}

async function takeLink(
  people: People,
  tokenHash: Buffer,
): Promise<{ person: Person; kind: LinkKind } | null> {
  const now = people.clock.now();
  const personId = await findPersonOfLink(people.db, tokenHash, KINDS, now);
  if (personId === null) return null;
  return inTransaction(people, async (tx) => {
    await lockPerson(tx, personId);
    const person = await readPerson(tx, personId);
    const used = await useLink(tx, tokenHash, KINDS, now);
    if (person === null || used === null) return null;
    // An invitation reaches a person by mail alone.
    if (used.kind === "invitation") await recordVerifiedEmail(tx, personId, now);
    return { person, kind: used.kind };
  });
}

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
