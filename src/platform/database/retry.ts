import type { Clock } from "../time.ts";
import { type Database, isRetryable, sqlState } from "./database.ts";
import { ensureDayPartitions } from "./day-partitions.ts";

const ATTEMPTS_MAX = 4;
/** No partition accepts the row, because no worker has created partitions for a long time. */
const CHECK_VIOLATION = "23514";

/**
 * Repeats a transaction that the database reports as retryable: after a deadlock or a serialization failure, and once
 * after creating missing partitions. `work` must be one statement or one transaction.
 */
export async function retried<T>(db: Database, clock: Clock, work: () => Promise<T>): Promise<T> {
  let partitionsEnsured = false;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) === CHECK_VIOLATION && !partitionsEnsured) {
        await ensureDayPartitions(db, clock.now());
        partitionsEnsured = true;
      } else if (!isRetryable(error) || attempts >= ATTEMPTS_MAX) {
        throw error;
      }
    }
  }
}
