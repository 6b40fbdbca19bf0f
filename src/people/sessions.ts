import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { before } from "../platform/time.ts";
import { type Problem, SIGN_IN_FAILURES, type SignInFailure } from "../platform/wire/problems.ts";
import { hashToken, makeToken, readCookie, setCookie } from "./cookies.ts";
import { lockPerson, type PersonRow, recordSignIn, toPerson } from "./people-sql.ts";
import {
  type PeopleContext,
  type Person,
  RECENT_MS,
  recordByPerson,
  SEEN_INTERVAL_MS,
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
  SESSIONS_MAX,
  type Visitor,
} from "./person.ts";

const COOKIE = "session_token";

/** A sign-in of a person on one browser. */
export type Session = {
  readonly id: string;
  /** Where the person signed in from. */
  readonly ipAddress: string;
  /** The browser, as it names itself. Empty: it does not. */
  readonly userAgent: string;
  readonly signedInAt: Date;
  /** Written at most once in SEEN_INTERVAL_MS. */
  readonly seenAt: Date;
  /** When the person last proved who it is. */
  readonly authenticatedAt: Date;
};

/** A session with its person. */
export type PersonSession = { readonly session: Session; readonly person: Person };

/**
 * RFC 9110, section 15.5.2: each 401 names a scheme. These routes accept no token, so it is none of the registered ones; a
 * browser opens no dialog of its own for it.
 */
const CHALLENGE = { "www-authenticate": 'Session realm="partner-orders"' };

export const signInFailed = (reason: SignInFailure): Problem => ({
  code: "sign-in-failed",
  detail: SIGN_IN_FAILURES[reason],
  members: { reason },
  headers: CHALLENGE,
});

/** There is no session, or no sign-in that waits for a code. */
const unauthorized = (detail: string): Problem => ({ code: "unauthorized", detail, headers: CHALLENGE });

export const notSignedIn = unauthorized("Sign in first: there is no session, or it has ended.");

export const codeStepEnded = unauthorized(
  "Begin again with the password: five codes were wrong, it was entered more than ten minutes ago, or the sign-ins of the person have ended.",
);

export const recentAuthenticationRequired: Problem = {
  code: "recent-authentication-required",
  detail: "Confirm that it is you: this needs a password, a code or a passkey within the last 15 minutes.",
};

/** A request of a person that has signed in, about how it signs in. */
export type Own = PersonSession & Visitor;

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
  const sessionId = context.newId();
  const { ipAddress, userAgent } = visitor;
  const hashes = { tokenHash: hashToken(token), earlierHash: earlier === null ? null : hashToken(earlier) };
  const session = { id: sessionId, personId: person.id, ipAddress, userAgent: userAgent.slice(0, 500) };
  await insertSession(tx, session, hashes, now);
  await recordSignIn(tx, person.id, now);
  const details = { method, session: toTypeId("ses", sessionId), ipAddress };
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

/** Ends the session of the browser, and returns the cookie that removes its own. Without a session it changes nothing. */
export async function signOut(context: PeopleContext, visitor: Visitor): Promise<string> {
  const opened = await findSession(context, visitor.cookie);
  if (opened !== null) await endSession(context, { ...visitor, ...opened }, opened.session.id, "signOut");
  return setCookie(context, COOKIE, "", 0);
}

/** Ends one of the person's own sessions. Returns whether there was one. */
export const endSession = (
  context: PeopleContext,
  own: Own,
  sessionId: string,
  action: "endSession" | "signOut",
): Promise<boolean> =>
  inTransaction(context, async (tx) => {
    if (!(await deleteSession(tx, own.person.id, sessionId))) return false;
    await recordByPerson(tx, context, own.person, own, action, { session: toTypeId("ses", sessionId) });
    return true;
  });

/** Signs the person out everywhere but here. */
export const endOtherSessions = (context: PeopleContext, own: Own): Promise<Problem | null> =>
  inTransaction(context, async (tx) => {
    const { person, session } = own;
    if (!(await lockSession(tx, own))) return notSignedIn;
    const sessionsEnded = await endSessions(tx, person.id, session.id);
    if (sessionsEnded > 0)
      await recordByPerson(tx, context, person, own, "endOtherSessions", { sessionsEnded });
    return null;
  });

type SessionRow = {
  session_id: string;
  ip_address: string;
  user_agent: string;
  signed_in_at: Date;
  seen_at: Date;
  authenticated_at: Date;
};

/** The session of a token with its person. Null if there is none. By person_sessions_token_key. */
async function readSession(db: Queryable, tokenHash: Buffer): Promise<PersonSession | null> {
  const [row] = await db.query<SessionRow & PersonRow>({
    name: "read-person-session",
    text: `
      select s.id as session_id, s.ip_address, s.user_agent, s.signed_in_at, s.seen_at, s.authenticated_at,
             p.id, p.name, p.email, p.created_at, p.created_by_kind, p.created_by_name, p.created_by_id,
             p.accepted_at, p.last_signed_in_at, p.disabled_at,
             exists (
               select from person_one_time_codes c
               where c.person_id = p.id and c.confirmed_at is not null) as has_two_factor,
             exists (select from person_provider_accounts a where a.person_id = p.id) as has_single_sign_on,
             (select coalesce(json_agg(g order by g.role), '[]') from person_grants g where g.person_id = p.id) as grants
      from person_sessions s
      join people p on p.id = s.person_id
      where s.token_hash = $1`,
    values: [tokenHash],
  });
  return row === undefined ? null : toPersonSession(row);
}

/** Sessions with their people, by their ids. Those that have ended are left out. */
export async function readSessionsById(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<PersonSession[]> {
  const rows = await db.query<SessionRow & PersonRow>({
    name: "read-person-sessions",
    text: `
      select s.id as session_id, s.ip_address, s.user_agent, s.signed_in_at, s.seen_at, s.authenticated_at,
             p.id, p.name, p.email, p.created_at, p.created_by_kind, p.created_by_name, p.created_by_id,
             p.accepted_at, p.last_signed_in_at, p.disabled_at,
             exists (
               select from person_one_time_codes c
               where c.person_id = p.id and c.confirmed_at is not null) as has_two_factor,
             exists (select from person_provider_accounts a where a.person_id = p.id) as has_single_sign_on,
             (select coalesce(json_agg(g order by g.role), '[]') from person_grants g where g.person_id = p.id) as grants
      from person_sessions s
      join people p on p.id = s.person_id
      where s.id = any($1::uuid[])`,
    values: [sessionIds],
  });
  return rows.map(toPersonSession);
}

/**
 * Stores a session that begins now. It replaces the one that the browser has, also of another person, and those of the person that
 * were used longest ago.
 */
async function insertSession(
  tx: Queryable,
  session: Pick<Session, "id" | "ipAddress" | "userAgent"> & { readonly personId: string },
  { tokenHash, earlierHash }: { readonly tokenHash: Buffer; readonly earlierHash: Buffer | null },
  now: Date,
): Promise<void> {
  const { id, personId, ipAddress, userAgent } = session;
  await tx.query({
    name: "insert-person-session",
    text: `
      with replaced as (
        delete from person_sessions
        where token_hash = $6 or id in (
          select s.id
          from person_sessions s
          where s.person_id = $2 and s.token_hash is distinct from $6
          order by s.seen_at desc, s.id desc
          offset $7)
      )
      insert into person_sessions (
        id, person_id, token_hash, ip_address, user_agent, signed_in_at, seen_at, authenticated_at)
      values ($1, $2, $3, $4, $5, $8, $8, $8)`,
    values: [id, personId, tokenHash, ipAddress, userAgent, earlierHash, SESSIONS_MAX - 1, now],
  });
}

/** Records that a session was used, unless a use after `staleBefore` is recorded already. */
async function recordSessionUse(
  db: Queryable,
  sessionId: string,
  seenAt: Date,
  staleBefore: Date,
): Promise<void> {
  await db.query({
    name: "record-session-use",
    text: "update person_sessions set seen_at = $2 where id = $1 and seen_at <= $3",
    values: [sessionId, seenAt, staleBefore],
  });
}

/** Records that the person has proved again who it is. */
export async function recordAuthentication(db: Queryable, sessionId: string, now: Date): Promise<void> {
  await db.query({
    name: "record-authentication",
    text: "update person_sessions set authenticated_at = $2, seen_at = greatest(seen_at, $2) where id = $1",
    values: [sessionId, now],
  });
}

/** The sessions of a person, the one that was used last first. There are at most SESSIONS_MAX. */
export async function listSessions(db: Queryable, personId: string): Promise<Session[]> {
  const rows = await db.query<SessionRow>({
    name: "list-person-sessions",
    text: `
      select s.id as session_id, s.ip_address, s.user_agent, s.signed_in_at, s.seen_at, s.authenticated_at
      from person_sessions s
      where s.person_id = $1
      order by s.seen_at desc, s.id desc
      limit 100`,
    values: [personId],
  });
  return rows.map(toSession);
}

/** Ends a session of a person. Returns whether there was one. */
async function deleteSession(tx: Queryable, personId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-person-session",
    text: "delete from person_sessions where person_id = $1 and id = $2 returning id",
    values: [personId, sessionId],
  });
  return rows.length > 0;
}

/** Ends all sessions of a person but one, and its sign-ins that wait for a code. Returns how many sessions. */
export async function endSessions(tx: Queryable, personId: string, exceptId: string | null): Promise<number> {
  const rows = await tx.query({
    name: "end-person-sessions",
    text: `
      with code_steps as (delete from person_code_steps where person_id = $1)
      delete from person_sessions where person_id = $1 and ($2::uuid is null or id <> $2)
      returning id`,
    values: [personId, exceptId],
  });
  return rows.length;
}

const toPersonSession = (row: SessionRow & PersonRow): PersonSession => ({
  session: toSession(row),
  person: toPerson(row),
});

const toSession = (row: SessionRow): Session => ({
  id: row.session_id,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  signedInAt: row.signed_in_at,
  seenAt: row.seen_at,
  authenticatedAt: row.authenticated_at,
});
