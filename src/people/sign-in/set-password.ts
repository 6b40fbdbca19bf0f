import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { storePassword } from "../auth/accounts-sql.ts";
import { PERSONAL_LINKS } from "../links/link.ts";
import { deleteLinks } from "../links/links-sql.ts";
import { endSignIns, lockSession } from "../sessions/end-sign-ins.ts";
import { isRecent, type PersonSession } from "../sessions/session.ts";
import { byPerson } from "./finish-sign-in.ts";
import { deviceCookie } from "./known-device.ts";
import { hashPassword } from "./passwords.ts";
import type { People } from "./people.ts";
import type { Visitor } from "./visitor.ts";

/**
 * Sets or replaces the password of a person who has proved recently who it is. All of its other sessions and its
 * links end: who has stolen one loses it. Returns the cookie that keeps the browser known. Null: the proof is too old, or the
 * session has ended.
 */
export async function setPassword(
  people: People,
  opened: PersonSession,
  password: string,
  visitor: Visitor,
): Promise<string | null> {
  const { person, session } = opened;
  if (!isRecent(session, people.clock.now())) return null;
  const passwordHash = await hashPassword(people, password);
  return inTransaction(people, async (tx) => {
    const now = people.clock.now();
    // It can have been ended while the password was hashed, by a reset of the owner.
    if (!(await lockSession(tx, opened))) return null;
    await storePassword(tx, { id: people.newId(), personId: person.id, passwordHash, now });
    await deleteLinks(tx, person.id, PERSONAL_LINKS);
    const { sessionsEnded, signInVersion } = await endSignIns(tx, person.id, session.id);
    await recordAudit(tx, people, byPerson(opened, visitor, "setPassword"), {
      merchantId: null,
      subject: "per",
      ids: [person.id],
      details: { sessionsEnded },
    });
    return deviceCookie({ id: person.id, signInVersion }, people.keys);
  });
}
