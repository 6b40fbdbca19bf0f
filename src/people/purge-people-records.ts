import type { Context } from "../platform/context.ts";
import { before, DAY_MS, HOUR_MS } from "../platform/time.ts";
import { WINDOW_MS } from "./limit-attempts.ts";
import {
  deleteEndedCodeSteps,
  deleteEndedLinks,
  deleteEndedSessions,
  deleteOldAttempts,
  deleteOldChallenges,
} from "./people-sql.ts";
import { SESSION_IDLE_MS, SESSION_MAX_MS } from "./person.ts";

/** Rows deleted by one statement, so that it is short. */
const BATCH_SIZE = 1_000;
/** Links are kept so long after their end, so that an entry of the audit log can be explained. */
const LINKS_KEPT_MS = 30 * DAY_MS;
/** A challenge that was used must stay until it has ended by the clock of each process. */
const CHALLENGES_KEPT_MS = HOUR_MS;

/** Deletes sessions, links, unfinished sign-ins and counted attempts that have ended. Returns how many. */
export async function purgePeopleRecords(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const now = clock.now();
  const batches = [
    () => deleteEndedSessions(db, before(now, SESSION_MAX_MS), before(now, SESSION_IDLE_MS), BATCH_SIZE),
    () => deleteEndedLinks(db, before(now, LINKS_KEPT_MS), BATCH_SIZE),
    () => deleteEndedCodeSteps(db, now, BATCH_SIZE),
    () => deleteOldChallenges(db, before(now, CHALLENGES_KEPT_MS), BATCH_SIZE),
    () => deleteOldAttempts(db, before(now, WINDOW_MS), BATCH_SIZE),
  ];
  let count = 0;
  for (const deleteBatch of batches)
    for (let deleted = BATCH_SIZE; deleted === BATCH_SIZE && !stopping?.aborted; ) {
      deleted = await deleteBatch();
      count += deleted;
    }
  return count;
}
