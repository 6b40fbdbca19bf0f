import type { Context } from "../platform/context.ts";
import {
  DAY_TABLES,
  ensureDayPartitions,
  PARTITIONS_AHEAD_MIN_MS,
  partitionsAheadMs,
} from "../platform/database/day-partitions.ts";
import { HOUR_MS } from "../platform/time.ts";

/** Creates partitions ahead. If some are still missing, logs an error while rows can still be stored. */
export async function makePartitions(context: Context): Promise<number> {
  try {
    await ensureDayPartitions(context.db, context.clock.now());
  } finally {
    await checkPartitionsAhead(context);
  }
  return 0;
}

async function checkPartitionsAhead({ db, clock, log }: Context): Promise<void> {
  for (const table of DAY_TABLES) {
    const aheadMs = await partitionsAheadMs(db, table, clock.now());
    if (aheadMs >= PARTITIONS_AHEAD_MIN_MS) continue;
    log.error(
      { table, aheadHours: Math.floor(aheadMs / HOUR_MS) },
      "partitions missing: rows cannot be stored after the last one",
    );
  }
}
