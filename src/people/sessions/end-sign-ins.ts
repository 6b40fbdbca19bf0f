import type { Queryable } from "../../platform/database/database.ts";
import { deleteCodeSteps } from "../auth/accounts-sql.ts";
import { lockPerson } from "../people-sql.ts";
import type { PersonSession } from "./session.ts";
import { deleteSessions, readSessionsById } from "./sessions-sql.ts";
import { raiseSignInVersion } from "./sign-ins-sql.ts";

/**
 * Ends all sessions of a person but one, and the sign-ins that have begun: they open no session afterwards (decision 0210). Returns
 * how many sessions, and the version of the sign-ins that begin now.
 */
export async function endSignIns(
  tx: Queryable,
  personId: string,
  exceptSessionId: string | null,
): Promise<{ sessionsEnded: number; signInVersion: number }> {
  const signInVersion = await raiseSignInVersion(tx, personId);
  await deleteCodeSteps(tx, personId);
  return { sessionsEnded: await deleteSessions(tx, personId, exceptSessionId), signInVersion };
}

/**
 * Before the person of a session changes how it signs in. False: the session has ended since it was read, perhaps because it was
 * stolen. It stays until the transaction ends.
 */
export async function lockSession(tx: Queryable, { person, session }: PersonSession): Promise<boolean> {
  await lockPerson(tx, person.id);
  return (await readSessionsById(tx, [session.id])).length > 0;
}
