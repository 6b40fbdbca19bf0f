import type { Queryable } from "../platform/database/database.ts";
import { before } from "../platform/time.ts";
import { type GrantRow, type Person, RECENT_MS, SESSION_IDLE_MS, SESSION_MAX_MS, toGrant } from "./person.ts";

type SessionRow = {
  id: string;
  person_id: string;
  ip_address: string | null;
  user_agent: string | null;
  signed_in_at: Date;
  seen_at: Date;
  authenticated_at: Date;
};

/** Of the session `s`. */
const SESSION_COLUMNS =
  "s.id, s.person_id, s.ip_address, s.user_agent, s.signed_in_at, s.seen_at, s.authenticated_at";

type PersonSessionRow = SessionRow & {
  name: string;
  email: string;
  two_factor_enabled: boolean;
  sign_in_version: number;
  disabled_at: Date | null;
  grants: GrantRow[];
};

/** Sessions `s` with their people. One whose sign-in was not finished is none. */
const SESSIONS_OF_PEOPLE = `
      select ${SESSION_COLUMNS}, p.name, p.email, p.two_factor_enabled, p.sign_in_version, p.disabled_at,
             (select coalesce(json_agg(g), '[]') from person_grants g where g.person_id = p.id) as grants
      from person_sessions s
      join people p on p.id = s.person_id
      where s.finished`;

/** The session of a token with its person. Null if there is none. By person_sessions_token_key. */
export async function readSession(db: Queryable, token: string): Promise<PersonSession | null> {
  const [row] = await db.query<PersonSessionRow>({
    name: "read-person-session",
    text: `${SESSIONS_OF_PEOPLE}
        and s.token = $1`,
    values: [token],
  });
  return row === undefined ? null : toPersonSession(row);
}

/** Sessions with their people, by their ids. Those that have ended are left out. */
export async function readSessionsById(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<PersonSession[]> {
  const rows = await db.query<PersonSessionRow>({
    name: "read-person-sessions",
    text: `${SESSIONS_OF_PEOPLE}
        and s.id = any($1::uuid[])`,
    values: [sessionIds],
  });
  return rows.map(toPersonSession);
}

/** Records that a session was used, unless a use after `staleBefore` is recorded already. */
export async function recordSessionUse(
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

/** Lets a session count as the continuation of an earlier one, which it replaces: it is no sign-in of its own. */
export async function continueSession(
  tx: Queryable,
  sessionId: string,
  { signedInAt, authenticatedAt }: Pick<Session, "signedInAt" | "authenticatedAt">,
): Promise<void> {
  await tx.query({
    name: "continue-person-session",
    text: "update person_sessions set signed_in_at = $2, authenticated_at = $3 where id = $1",
    values: [sessionId, signedInAt, authenticatedAt],
  });
}

/** The sessions of a person, the one that was used last first. There are at most SESSIONS_MAX. */
export async function listSessions(db: Queryable, personId: string): Promise<Session[]> {
  const rows = await db.query<SessionRow>({
    name: "list-person-sessions",
    text: `
      select ${SESSION_COLUMNS}
      from person_sessions s
      where s.person_id = $1 and s.finished
      order by s.seen_at desc, s.id desc
      limit 100`,
    values: [personId],
  });
  return rows.map(toSession);
}

/** Ends a session of a person. Returns whether there was one. */
export async function deleteSession(tx: Queryable, personId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.query({
    name: "delete-person-session",
    text: "delete from person_sessions where person_id = $1 and id = $2 returning id",
    values: [personId, sessionId],
  });
  return rows.length > 0;
}

/** Ends all sessions of a person, but for one. Returns how many of them had been finished. */
export async function deleteSessions(
  tx: Queryable,
  personId: string,
  exceptId: string | null,
): Promise<number> {
  const rows = await tx.query<{ finished: boolean }>({
    name: "delete-person-sessions",
    text: `
      delete from person_sessions
      where person_id = $1 and ($2::uuid is null or id <> $2)
      returning finished`,
    values: [personId, exceptId],
  });
  return rows.filter(({ finished }) => finished).length;
}

/** Ends the sessions of a person that were used longest ago, beyond the newest ones. */
export async function deleteOldestSessions(tx: Queryable, personId: string, kept: number): Promise<void> {
  await tx.query({
    name: "delete-oldest-person-sessions",
    text: `
      delete from person_sessions
      where id in (
        select s.id
        from person_sessions s
        where s.person_id = $1
        order by s.seen_at desc, s.id desc
        offset $2)`,
    values: [personId, kept],
  });
}

const toPersonSession = (row: PersonSessionRow): PersonSession => ({
  session: toSession(row),
  person: {
    id: row.person_id,
    name: row.name,
    email: row.email,
    grants: row.grants.map(toGrant),
    hasTwoFactor: row.two_factor_enabled,
    signInVersion: row.sign_in_version,
    disabledAt: row.disabled_at,
  },
});

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  personId: row.person_id,
  ipAddress: row.ip_address || null,
  userAgent: row.user_agent || null,
  signedInAt: row.signed_in_at,
  seenAt: row.seen_at,
  authenticatedAt: row.authenticated_at,
});

/** A sign-in of a person on one browser. */
export type Session = {
  readonly id: string;
  readonly personId: string;
  /** Where the person signed in from. */
  readonly ipAddress: string | null;
  /** The browser, as it names itself. */
  readonly userAgent: string | null;
  readonly signedInAt: Date;
  /** Written at most once in SEEN_INTERVAL_MS. */
  readonly seenAt: Date;
  /** When the person last proved who it is. */
  readonly authenticatedAt: Date;
};

/** A session with its person. */
export type PersonSession = {
  readonly session: Session;
  readonly person: Pick<
    Person,
    "id" | "name" | "email" | "grants" | "hasTwoFactor" | "signInVersion" | "disabledAt"
  >;
};

/** Whether a session is still good for a request. */
export const isLive = ({ signedInAt, seenAt }: Session, now: Date): boolean =>
  before(now, SESSION_MAX_MS) < signedInAt && before(now, SESSION_IDLE_MS) < seenAt;

/** When a session ends if it is not used again. */
export const endOf = ({ signedInAt, seenAt }: Session): Date =>
  new Date(Math.min(signedInAt.getTime() + SESSION_MAX_MS, seenAt.getTime() + SESSION_IDLE_MS));

/** Whether the person has proved who it is recently enough for keys, secrets and money. */
export const isRecent = ({ authenticatedAt }: Pick<Session, "authenticatedAt">, now: Date): boolean =>
  before(now, RECENT_MS) < authenticatedAt;

/** The person of a sign-in, as it was read before a proof was compared. */
export type Beginning = Pick<Person, "id" | "signInVersion">;

/**
 * Whether no sign-in of the person has been ended since one began, and the person is enabled. It waits for a transaction that
 * ends them, and such a transaction waits for this one.
 */
export async function lockSignIns(tx: Queryable, { id, signInVersion }: Beginning): Promise<boolean> {
  const rows = await tx.query({
    name: "lock-sign-ins",
    text: `
      select from people
      where id = $1 and sign_in_version = $2 and disabled_at is null
      for no key update`,
    values: [id, signInVersion],
  });
  return rows.length > 0;
}

/** Whether a mail address is that of a person whose sign-ins still have a version. */
export async function hasSignInVersion(
  db: Queryable,
  email: string,
  { id, signInVersion }: Beginning,
): Promise<boolean> {
  const rows = await db.query({
    name: "has-sign-in-version",
    text: "select id from people where email = $1 and id = $2 and sign_in_version = $3",
    values: [email, id, signInVersion],
  });
  return rows.length > 0;
}

/** From now on the sign-ins of a person that have begun open no session. Returns the version of those that begin. */
export async function raiseSignInVersion(tx: Queryable, personId: string): Promise<number> {
  const [row] = await tx.query<{ sign_in_version: number }>({
    name: "raise-sign-in-version",
    text: "update people set sign_in_version = sign_in_version + 1 where id = $1 returning sign_in_version",
    values: [personId],
  });
  return row?.sign_in_version ?? 0;
}

/** Lets a session of a person that better-auth has stored be used. Returns whether there is one. */
export async function setSessionFinished(tx: Queryable, personId: string, token: string): Promise<boolean> {
  const rows = await tx.query({
    name: "finish-person-session",
    text: "update person_sessions set finished = true where token = $2 and person_id = $1 returning id",
    values: [personId, token],
  });
  return rows.length > 0;
}

/** Deletes a session whose sign-in was not finished. */
export async function deleteUnfinishedSession(tx: Queryable, token: string): Promise<void> {
  await tx.query({
    name: "delete-unfinished-person-session",
    text: "delete from person_sessions where token = $1 and not finished",
    values: [token],
  });
}
