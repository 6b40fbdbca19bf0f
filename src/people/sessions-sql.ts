import type { Queryable } from "../platform/database/database.ts";
import { PERSON_COLUMNS, type PersonRow, toPerson } from "./people-sql.ts";
import type { Person } from "./person.ts";

/** A sign-in of a person on one browser. */
export type Session = {
  readonly id: string;
  readonly personId: string;
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

type SessionRow = {
  session_id: string;
  person_id: string;
  ip_address: string;
  user_agent: string;
  signed_in_at: Date;
  seen_at: Date;
  authenticated_at: Date;
};

/** Of the session `s`. */
const SESSION_COLUMNS =
  "s.id as session_id, s.person_id, s.ip_address, s.user_agent, s.signed_in_at, s.seen_at, s.authenticated_at";

/** The session of a token with its person. Null if there is none. By person_sessions_token_key. */
export async function readSession(db: Queryable, tokenHash: Buffer): Promise<PersonSession | null> {
  const [row] = await db.query<SessionRow & PersonRow>({
    name: "read-person-session",
    text: `
      select ${SESSION_COLUMNS}, ${PERSON_COLUMNS}
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
      select ${SESSION_COLUMNS}, ${PERSON_COLUMNS}
      from person_sessions s
      join people p on p.id = s.person_id
      where s.id = any($1::uuid[])`,
    values: [sessionIds],
  });
  return rows.map(toPersonSession);
}

/** Stores a session that begins now. */
export async function insertSession(tx: Queryable, session: Session, tokenHash: Buffer): Promise<void> {
  await tx.query({
    name: "insert-person-session",
    text: `
      insert into person_sessions (
        id, person_id, token_hash, ip_address, user_agent, signed_in_at, seen_at, authenticated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      session.id,
      session.personId,
      tokenHash,
      session.ipAddress,
      session.userAgent,
      session.signedInAt,
      session.seenAt,
      session.authenticatedAt,
    ],
  });
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

/** The sessions of a person, the one that was used last first. There are at most SESSIONS_MAX. */
export async function listSessions(db: Queryable, personId: string): Promise<Session[]> {
  const rows = await db.query<SessionRow>({
    name: "list-person-sessions",
    text: `
      select ${SESSION_COLUMNS}
      from person_sessions s
      where s.person_id = $1
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

/** Ends the session of a token, also one of another person on the same browser. */
export async function deleteSessionOfToken(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.query({
    name: "delete-person-session-of-token",
    text: "delete from person_sessions where token_hash = $1",
    values: [tokenHash],
  });
}

/** Ends all sessions of a person, but for one. Returns how many. */
export async function deleteSessions(
  tx: Queryable,
  personId: string,
  exceptId: string | null,
): Promise<number> {
  const rows = await tx.query({
    name: "delete-person-sessions",
    text: "delete from person_sessions where person_id = $1 and ($2::uuid is null or id <> $2) returning id",
    values: [personId, exceptId],
  });
  return rows.length;
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

const toPersonSession = (row: SessionRow & PersonRow): PersonSession => ({
  session: toSession(row),
  person: toPerson(row),
});

const toSession = (row: SessionRow): Session => ({
  id: row.session_id,
  personId: row.person_id,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  signedInAt: row.signed_in_at,
  seenAt: row.seen_at,
  authenticatedAt: row.authenticated_at,
});
