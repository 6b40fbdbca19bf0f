import type { Queryable } from "../../platform/database/database.ts";
import type { PersonSession } from "./session.ts";
import { readSession } from "./sessions-sql.ts";
import { type Beginning, deleteUnfinishedSession, lockSignIns, setSessionFinished } from "./sign-ins-sql.ts";

/**
 * Lets a session that better-auth has stored be used (decision 0210). Null, and the session is deleted, if the sign-ins of the person
 * have ended since this one began. If the process ends before, the session opens nothing.
 */
export async function finishSession(
  tx: Queryable,
  beginning: Beginning,
  token: string,
): Promise<PersonSession | null> {
  const isPresent = await lockSignIns(tx, beginning);
  if (isPresent && (await setSessionFinished(tx, beginning.id, token))) return readSession(tx, token);
  await deleteUnfinishedSession(tx, token);
  return null;
}
