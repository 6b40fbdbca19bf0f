import type { Queryable } from "../platform/database/database.ts";

/** Deletes sessions that have ended by their age, or because they were not used. Returns how many. */
export async function deleteEndedSessions(
  db: Queryable,
  signedInBefore: Date,
  seenBefore: Date,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "delete-ended-person-sessions",
    text: `
      delete from person_sessions
      where id in (
        select s.id from person_sessions s where s.signed_in_at <= $1 or s.seen_at <= $2 limit $3)
        and (signed_in_at <= $1 or seen_at <= $2) -- It may have been used since.
      returning id`,
    values: [signedInBefore, seenBefore, limit],
  });
  return rows.length;
}

/** Deletes links that have expired before a time. Returns how many. */
export async function deleteEndedLinks(db: Queryable, expiredBefore: Date, limit: number): Promise<number> {
  const rows = await db.query({
    name: "delete-ended-person-links",
    text: `
      delete from person_links
      where id in (select l.id from person_links l where l.expires_at <= $1 limit $2)
      returning id`,
    values: [expiredBefore, limit],
  });
  return rows.length;
}

/** Deletes unfinished sign-ins that have expired before a time. Returns how many. */
export async function deleteEndedVerifications(
  db: Queryable,
  expiredBefore: Date,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "delete-ended-person-verifications",
    text: `
      delete from person_verifications
      where id in (select v.id from person_verifications v where v.expires_at <= $1 limit $2)
      returning id`,
    values: [expiredBefore, limit],
  });
  return rows.length;
}

/** Deletes counted attempts whose window began at or before a time. Returns how many. */
export async function deleteOldAttempts(db: Queryable, startedBefore: Date, limit: number): Promise<number> {
  const rows = await db.query({
    name: "delete-old-person-attempts",
    text: `
      delete from person_attempts
      where bucket in (select a.bucket from person_attempts a where a.window_start <= $1 limit $2)
        and window_start <= $1 -- It may have begun again since.
      returning bucket`,
    values: [startedBefore, limit],
  });
  return rows.length;
}
