import type { Context } from "../platform/context.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { WINDOW_MS } from "./limit-attempts.ts";
import { SESSION_IDLE_MS, SESSION_MAX_MS } from "./person.ts";

/** Rows deleted by one statement, so that it is short. */
const BATCH_SIZE = 1_000;

/** What has ended: the statement deletes up to `$1` rows, by times so long ago. The conditions that follow `in` see what was changed since. */
const ENDED = [
  {
    name: "delete-ended-person-sessions",
    text: `
      delete from person_sessions
      where id in (select s.id from person_sessions s where s.signed_in_at <= $2 or s.seen_at <= $3 limit $1)
        and (signed_in_at <= $2 or seen_at <= $3)
      returning id`,
    agesMs: [SESSION_MAX_MS, SESSION_IDLE_MS],
  },
  {
    // They are kept for a while, so that an entry of the audit log can be explained.
    name: "delete-ended-person-links",
    text: `
      delete from person_links
      where id in (select l.id from person_links l where l.expires_at <= $2 limit $1)
      returning id`,
    agesMs: [30 * DAY_MS],
  },
  {
    name: "delete-ended-code-steps",
    text: `
      delete from person_code_steps
      where token_hash in (select s.token_hash from person_code_steps s where s.expires_at <= $2 limit $1)
      returning token_hash`,
    agesMs: [0],
  },
  {
    // A challenge that was used must stay until it has ended by the clock of each process.
    name: "delete-old-challenges",
    text: `
      delete from person_used_challenges
      where challenge_hash in (select c.challenge_hash from person_used_challenges c where c.expires_at <= $2 limit $1)
      returning challenge_hash`,
    agesMs: [HOUR_MS],
  },
  {
    name: "delete-old-person-attempts",
    text: `
      delete from person_attempts
      where bucket in (select a.bucket from person_attempts a where a.window_start <= $2 limit $1)
        and window_start <= $2
      returning bucket`,
    agesMs: [WINDOW_MS],
  },
];

/** Deletes sessions, links, unfinished sign-ins and counted attempts that have ended. Returns how many. */
export async function purgePeopleRecords(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const now = clock.now();
  let count = 0;
  for (const { name, text, agesMs } of ENDED)
    for (let deleted = BATCH_SIZE; deleted === BATCH_SIZE && !stopping?.aborted; ) {
      const values = [BATCH_SIZE, ...agesMs.map((ageMs) => before(now, ageMs))];
      deleted = (await db.query({ name, text, values })).length;
      count += deleted;
    }
  return count;
}
