import type { Context } from "../../platform/context.ts";
import { before } from "../../platform/time.ts";
import { PROCESSES_KEPT_MS } from "./process.ts";
import { deleteProcesses } from "./processes-sql.ts";

const BATCH_SIZE = 1_000;

/** Deletes what is known of processes that were not seen for an hour. Returns how many they were. */
export async function purgeProcesses(
  { db, clock }: Pick<Context, "db" | "clock">,
  stopping?: AbortSignal,
): Promise<number> {
  const seenBefore = before(clock.now(), PROCESSES_KEPT_MS);
  let count = 0;
  for (;;) {
    const deleted = await deleteProcesses(db, seenBefore, BATCH_SIZE);
    count += deleted;
    if (deleted === 0 || stopping?.aborted) return count;
  }
}
