import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { before } from "../platform/time.ts";
import { recordByPerson } from "./by-person.ts";
import { hashToken, makeToken, readCookie, setCookie } from "./cookies.ts";
import { deleteLinks } from "./links.ts";
import { deleteCodeSteps } from "./one-time-codes-sql.ts";
import { lockPerson, recordSignIn } from "./people-sql.ts";
import {
  type PeopleContext,
  type Person,
  RECENT_MS,
  SEEN_INTERVAL_MS,
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
  SESSIONS_MAX,
  type Visitor,
} from "./person.ts";
import {
  deleteOldestSessions,
  deleteSession,
  deleteSessionOfToken,
  deleteSessions,
  insertSession,
  type PersonSession,
  readSession,
  readSessionsById,
  recordSessionUse,
  type Session,
} from "./sessions-sql.ts";

const COOKIE = "session_token";

/** Whether a session is still good for a request. */
export const isLive = ({ signedInAt, seenAt }: Session, now: Date): boolean =>
  before(now, SESSION_MAX_MS) < signedInAt && before(now, SESSION_IDLE_MS) < seenAt;

/** When a session ends if it is not used again. */
export const endOf = ({ signedInAt, seenAt }: Session): Date =>
  new Date(Math.min(signedInAt.getTime() + SESSION_MAX_MS, seenAt.getTime() + SESSION_IDLE_MS));

/** Whether the person has proved who it is recently enough for keys, secrets and money. */
export const isRecent = ({ authenticatedAt }: Pick<Session, "authenticatedAt">, now: Date): boolean =>
  before(now, RECENT_MS) < authenticatedAt;

/**
 * Opens a session, in the transaction that has locked the person and used up the proof: of two requests with one proof the second
 * finds it used. Returns the cookie.
 * @param method how the person has signed in, for the audit log
 */
export async function openSession(
  tx: Queryable,
  context: PeopleContext,
  person: Person,
  visitor: Visitor,
  method: string,
): Promise<string> {
  const now = context.clock.now();
  const [token, earlier] = [makeToken(), readCookie(context, visitor.cookie, COOKIE)];
  const session: Session = {
    id: context.newId(),
    personId: person.id,
    ipAddress: visitor.ipAddress,
    userAgent: visitor.userAgent.slice(0, 500),
    signedInAt: now,
    seenAt: now,
    authenticatedAt: now,
  };
  // A person who signs in again on the same page has one session there, not two.
  if (earlier !== null) await deleteSessionOfToken(tx, hashToken(earlier));
  await deleteOldestSessions(tx, person.id, SESSIONS_MAX - 1);
  await insertSession(tx, session, hashToken(token));
  // Links to sign in for the first time are not needed any more. They would be a way past the password and the code.
  await deleteLinks(tx, person.id, person.acceptedAt === null ? ["invitation", "sign-in"] : ["invitation"]);
  await recordSignIn(tx, person.id, now);
  const details = { method, session: toTypeId("ses", session.id), ipAddress: visitor.ipAddress };
  await recordByPerson(tx, context, person, visitor, "signIn", details);
  return setCookie(context, COOKIE, token, SESSION_MAX_MS);
}

/** Whether a browser sends the cookie of a session, valid or not. */
export const hasSessionCookie = (
  context: Pick<PeopleContext, "config">,
  cookie: string | undefined,
): boolean => readCookie(context, cookie, COOKIE) !== null;

/**
 * The session of a `Cookie` header: one read by an index, with every request and not cached, so a session that was ended is
 * rejected by the very next request, in every process. Null if there is none that is good.
 */
export async function findSession(
  context: Pick<PeopleContext, "db" | "clock" | "log" | "config">,
  cookie: string | undefined,
): Promise<PersonSession | null> {
  const token = readCookie(context, cookie, COOKIE);
  const found = token === null ? null : await readSession(context.db, hashToken(token));
  const now = context.clock.now();
  if (found === null || found.person.disabledAt !== null || !isLive(found.session, now)) return null;
  const staleBefore = before(now, SEEN_INTERVAL_MS);
  if (found.session.seenAt <= staleBefore)
    // The request succeeds without it.
    await recordSessionUse(context.db, found.session.id, now, staleBefore).catch((err: unknown) =>
      context.log.warn({ err }, "use of session not recorded"),
    );
  return found;
}

/**
 * Before the person of a session changes how it signs in. False: the session has ended since it was read, perhaps because it was
 * stolen. It stays until the transaction ends.
 */
export async function lockSession(tx: Queryable, { person, session }: PersonSession): Promise<boolean> {
  await lockPerson(tx, person.id);
  return (await readSessionsById(tx, [session.id])).length > 0;
}

/** Ends all sessions of a person but one, and its sign-ins that wait for a code. Returns how many sessions. */
export async function endSessions(tx: Queryable, personId: string, exceptId: string | null): Promise<number> {
  await deleteCodeSteps(tx, personId);
  return deleteSessions(tx, personId, exceptId);
}

/** Ends the session of the browser, and returns the cookie that removes its own. Without a session it changes nothing. */
export async function signOut(context: PeopleContext, visitor: Visitor): Promise<string> {
  const opened = await findSession(context, visitor.cookie);
  if (opened !== null) await endSession(context, opened, opened.session.id, visitor, "signOut");
  return setCookie(context, COOKIE, "", 0);
}

/** Ends one of the person's own sessions. Returns whether there was one. */
export const endSession = (
  context: PeopleContext,
  { person }: PersonSession,
  sessionId: string,
  visitor: Visitor,
  action: "endSession" | "signOut",
): Promise<boolean> =>
  inTransaction(context, async (tx) => {
    if (!(await deleteSession(tx, person.id, sessionId))) return false;
    await recordByPerson(tx, context, person, visitor, action, { session: toTypeId("ses", sessionId) });
    return true;
  });

/** Signs the person out everywhere but here. False: the session itself has ended. */
export const endOtherSessions = (
  context: PeopleContext,
  opened: PersonSession,
  visitor: Visitor,
): Promise<boolean> =>
  inTransaction(context, async (tx) => {
    const { person, session } = opened;
    if (!(await lockSession(tx, opened))) return false;
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    if (sessionsEnded > 0)
      await recordByPerson(tx, context, person, visitor, "endOtherSessions", { sessionsEnded });
    return true;
  });
