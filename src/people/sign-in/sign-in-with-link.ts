import { inTransaction } from "../../platform/context.ts";
import { readAnswer } from "../auth/answers.ts";
import { hashLinkToken, isLinkToken, type LinkKind } from "../links/link.ts";
import { useLink } from "../links/links-sql.ts";
import { recordVerifiedEmail } from "../people-sql.ts";
import { finishSignIn, type SignIn } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

const KINDS: readonly LinkKind[] = ["invitation", "sign-in", "demo"];

/**
 * Signs in with a link, and uses it up. If the process ends before the response, the link is used up without a session: the
 * person asks for another one. Nothing limits attempts: a token cannot be guessed, and to look for it costs less than to count.
 */
export async function signInWithLink(people: People, token: string, visitor: Visitor): Promise<SignIn> {
  const used = isLinkToken(token) ? await takeLink(people, token) : null;
  if (used === null) return { outcome: "failed", cookies: [] };
  const answer = await readAnswer(
    await people.auth().api.openSession({
      body: { personId: used.personId },
      headers: headersOf(visitor),
      asResponse: true,
    }),
  );
  return answer.error === null
    ? finishSignIn(people, answer, visitor, `${used.kind} link`)
    : { outcome: "failed", cookies: [] };
}

const takeLink = (people: People, token: string) =>
  inTransaction(people, async (tx) => {
    const now = people.clock.now();
    const used = await useLink(tx, hashLinkToken(token), KINDS, now);
    // An invitation reaches a person by mail alone.
    if (used?.kind === "invitation") await recordVerifiedEmail(tx, used.personId, now);
    return used;
  });
