import { openDatabase } from "../../src/platform/database/database.ts";
import { ensureDayPartitions } from "../../src/platform/database/day-partitions.ts";
import { createTestClock } from "./test-clock.ts";

/**
 * Creates those of the days around the beginning of the tests' clock, in a database that test files get copies of. Each test
 * that stores an event would wait for them: a tenth of a second, and on Citus five.
 */
export async function makeFirstPartitions(url: string): Promise<void> {
  const db = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  try {
    await ensureDayPartitions(db, createTestClock().now());
  } finally {
    await db.close();
  }
}
