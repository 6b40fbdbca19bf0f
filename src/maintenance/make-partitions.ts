import type { Context } from "../platform/context.ts";
import { DAY_TABLES, ensureDayPartitions, partitionsAheadMs } from "../platform/database/day-partitions.ts";
import { DAY_MS, HOUR_MS } from "../platform/time.ts";

/** Less than this ahead means that making them has failed for almost two weeks. */
const AHEAD_MIN_MS = 2 * DAY_MS;

/** Makes partitions ahead, and raises the alarm while there is still time when they are not there all the same. */
export async function makePartitions(context: Context): Promise<number> {
  try {
    await ensureDayPartitions(context.db, context.clock.now());
  } finally {
    await warnOfMissingPartitions(context);
  }
  return 0;
}

async function warnOfMissingPartitions({ db, clock, log }: Context): Promise<void> {
  for (const table of DAY_TABLES) {
    const aheadMs = await partitionsAheadMs(db, table, clock.now());
    if (aheadMs >= AHEAD_MIN_MS) continue;
    log.error(
      { table, aheadHours: Math.floor(aheadMs / HOUR_MS) },
      "partitions are missing: less than two days are made ahead, and after them nothing can be stored",
    );
  }
}
