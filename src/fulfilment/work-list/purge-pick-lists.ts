import type { Context } from "../../platform/context.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import { deleteExpired } from "./pick-lists-sql.ts";

const BATCH_SIZE = 1_000;
/** So that it can be seen who had an order, and a repeated request finds its pick list. */
const KEPT_MS = 30 * DAY_MS;

/** Deletes claims that have expired, and pick lists 30 days later, batch by batch. Returns how many. */
export async function purgePickLists(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const now = clock.now();
  let count = 0;
  for (;;) {
    const deleted = await deleteExpired(db, { now, keptSince: before(now, KEPT_MS), limit: BATCH_SIZE });
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}
