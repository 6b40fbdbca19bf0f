import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { deleteCodeSteps, storePassword } from "../auth/accounts-sql.ts";
import { PERSONAL_LINKS } from "../links/link.ts";
import { deleteLinks } from "../links/links-sql.ts";
import { lockPerson } from "../people-sql.ts";
import { isRecent, type PersonSession } from "../sessions/session.ts";
import { deleteSessions, readSessionsById } from "../sessions/sessions-sql.ts";
import { byPerson } from "./finish-sign-in.ts";
import { hashPassword } from "./passwords.ts";
import type { People } from "./people.ts";
import type { Visitor } from "./visitor.ts";

/**
 * Sets or replaces the password of a person who has proved recently who it is. All of its other sessions and its
 * links end: who has stolen one loses it. Returns false if the proof is too old, or the
 * session has ended.
 */
export async function setPassword(
  people: People,
  opened: PersonSession,
  password: string,
  visitor: Visitor,
): Promise<boolean> {
  const { person, session } = opened;
  if (!isRecent(session, people.clock.now())) return false;
  const passwordHash = await hashPassword(people, password);
  return inTransaction(people, async (tx) => {
    const now = people.clock.now();
    await lockPerson(tx, person.id);
    // It can have been ended while the password was hashed, by a reset of the owner.
    if ((await readSessionsById(tx, [session.id])).length === 0) return false;
    await storePassword(tx, { id: people.newId(), personId: person.id, passwordHash, now });
    await deleteCodeSteps(tx, person.id);
    await deleteLinks(tx, person.id, PERSONAL_LINKS);
    const ended = await deleteSessions(tx, person.id, session.id);
    const details = { sessionsEnded: ended };
    await recordAudit(tx, people, byPerson(opened, visitor, "setPassword"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details,
    });
    return true;
  });
}
