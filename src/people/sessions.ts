import type { Queryable } from "../platform/database/database.ts";
import { before } from "../platform/time.ts";
import { deleteCodeSteps } from "./accounts-sql.ts";
import type { AuthKeys } from "./library/auth.ts";
import { lockPerson } from "./people-sql.ts";
import { type PeopleContext, SEEN_INTERVAL_MS } from "./person.ts";
import { cookieValue, sessionCookieName, signedText } from "./session-cookie.ts";
import {
  type Beginning,
  deleteSessions,
  deleteUnfinishedSession,
  isLive,
  lockSignIns,
  type PersonSession,
  raiseSignInVersion,
  readSession,
  readSessionsById,
  recordSessionUse,
  setSessionFinished,
} from "./sessions-sql.ts";

/**
 * The session of a `Cookie` header: one read by an index, with every request and not cached, so a session that was ended is
 * rejected by the very next request, in every process. Null if there is none that is good.
 */
export async function findSession(
  { db, clock, log }: Pick<PeopleContext, "db" | "clock" | "log">,
  { cookieSecret, isSecure }: AuthKeys,
  cookie: string | undefined,
): Promise<PersonSession | null> {
  const value = cookieValue(cookie, sessionCookieName(isSecure));
  const token = value === null ? null : signedText(value, cookieSecret);
  const found = token === null ? null : await readSession(db, token);
  const now = clock.now();
  if (found === null || found.person.disabledAt !== null || !isLive(found.session, now)) return null;
  const staleBefore = before(now, SEEN_INTERVAL_MS);
  if (found.session.seenAt <= staleBefore)
    // The request succeeds without it.
    await recordSessionUse(db, found.session.id, now, staleBefore).catch((err: unknown) =>
      log.warn({ err }, "use of session not recorded"),
    );
  return found;
}

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
