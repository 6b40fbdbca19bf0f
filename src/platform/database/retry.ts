import type { Clock } from "../clock.ts";
import { type Database, isRetryable, sqlState } from "./database.ts";
import { ensureDayPartitions } from "./day-partitions.ts";

const TRIES_MAX = 4;
/** Raised when no partition takes a row, because no worker has made any ahead for long. */
const CHECK_VIOLATION = "23514";

/**
 * Does a step again when the database says that it would succeed: after a deadlock or a serialisation failure, and
 * once after making missing partitions. The step must be one statement or one transaction.
 */
export async function retried<T>(db: Database, clock: Clock, step: () => Promise<T>): Promise<T> {
  let partitionsEnsured = false;
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (sqlState(error) === CHECK_VIOLATION && !partitionsEnsured) {
        await ensureDayPartitions(db, clock.now());
        partitionsEnsured = true;
      } else if (!isRetryable(error) || tries >= TRIES_MAX) {
        throw error;
      }
    }
  }
}
