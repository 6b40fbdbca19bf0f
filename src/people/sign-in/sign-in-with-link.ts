import { inTransaction } from "../../platform/context.ts";
import { readAnswer } from "../auth/answers.ts";
import { hashLinkToken, isLinkToken, type LinkKind } from "../links/link.ts";
import { findPersonOfLink, useLink } from "../links/links-sql.ts";
import { lockPerson, readPerson, recordVerifiedEmail } from "../people-sql.ts";
import type { Person } from "../person.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

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
