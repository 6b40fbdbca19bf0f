import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { PersonSession } from "../sessions/session.ts";
import { deleteSession, deleteSessions } from "../sessions/sessions-sql.ts";
import { byPerson } from "../sign-in/finish-sign-in.ts";
import type { People } from "../sign-in/people.ts";
import type { Visitor } from "../sign-in/visitor.ts";

/** Ends one of the person's own sessions. Returns whether there was one. */
export const endOwnSession = (
  people: People,
  opened: PersonSession,
  sessionId: string,
  visitor: Visitor,
): Promise<boolean> =>
  inTransaction(people, async (tx) => {
    if (!(await deleteSession(tx, opened.person.id, sessionId))) return false;
    await recordAudit(tx, people, byPerson(opened, visitor, "endSession"), {
      merchantId: null,
      subject: "per",
      ids: [opened.person.id],
      details: { session: toTypeId("ses", sessionId) },
    });
    return true;
  });

/** Signs the person out everywhere but here. Returns how many sessions have ended. */
export const endOtherSessions = (people: People, opened: PersonSession, visitor: Visitor): Promise<number> =>
  inTransaction(people, async (tx) => {
    const ended = await deleteSessions(tx, opened.person.id, opened.session.id);
    if (ended > 0)
      await recordAudit(tx, people, byPerson(opened, visitor, "endOtherSessions"), {
        merchantId: null,
        subject: "per",
        ids: [opened.person.id],
        details: { sessionsEnded: ended },
      });
    return ended;
  });
