import { recordAudit } from "../../audit/record-audit.ts";
import { inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import { endSignIns, lockSession } from "../sessions/end-sign-ins.ts";
import type { PersonSession } from "../sessions/session.ts";
import { deleteSession } from "../sessions/sessions-sql.ts";
import { byPerson } from "../sign-in/finish-sign-in.ts";
import { deviceCookie } from "../sign-in/known-device.ts";
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

/**
 * Signs the person out everywhere but here. Returns the cookie that keeps the browser known. Null: the session itself has ended.
 */
export const endOtherSessions = (
  people: People,
  opened: PersonSession,
  visitor: Visitor,
): Promise<string | null> =>
  inTransaction(people, async (tx) => {
    const { id } = opened.person;
    if (!(await lockSession(tx, opened))) return null;
    const { sessionsEnded, signInVersion } = await endSignIns(tx, id, opened.session.id);
    if (sessionsEnded > 0)
      await recordAudit(tx, people, byPerson(opened, visitor, "endOtherSessions"), {
        merchantId: null,
        subject: "per",
        ids: [id],
        details: { sessionsEnded },
      });
    return deviceCookie({ id, signInVersion }, people.keys);
  });
