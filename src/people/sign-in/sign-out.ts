import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { readAnswer } from "../auth/answers.ts";
import { findSession } from "../sessions/find-session.ts";
import { deleteSession } from "../sessions/sessions-sql.ts";
import { byPerson } from "./finish-sign-in.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** Ends the session of the browser, and returns the cookies that remove its own. Without a session it changes nothing. */
export async function signOut(people: People, visitor: Visitor): Promise<readonly string[]> {
  await endSession(people, visitor);
  const answer = await readAnswer(
    await people.auth().api.signOut({ headers: headersOf(visitor), asResponse: true }),
  );
  return answer.cookies;
}

async function endSession(people: People, visitor: Visitor): Promise<void> {
  const opened = await findSession(people, people.keys, visitor.cookie);
  if (opened === null) return;
  const { person, session } = opened;
  await inTransaction(people, async (tx) => {
    if (!(await deleteSession(tx, person.id, session.id))) return; // It ended at the same time.
    await recordAudit(tx, people, byPerson(opened, visitor, "signOut"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { session: toTypeId("ses", session.id) },
    });
  });
}
