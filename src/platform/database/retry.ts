import type { Clock } from "../time.ts";
import { type Database, isRetryable, sqlState } from "./database.ts";
import { ensureDayPartitions } from "./day-partitions.ts";

const ATTEMPTS_MAX = 4;
/** A check violation, which a row without a partition is too. */
const CHECK_VIOLATION = "23514";
/** Citus reports an internal error if it sends rows of a list to their nodes. Only the message says of which kind. */
const NO_PARTITION = /^no partition of relation \S+ found for row/;

/** True if no partition accepts a row, because no worker has created partitions for a long time. */
const mayLackPartition = (error: unknown): boolean =>
  sqlState(error) === CHECK_VIOLATION ||
  (sqlState(error) === "XX000" && error instanceof Error && NO_PARTITION.test(error.message));

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
      if (mayLackPartition(error) && !partitionsEnsured) {
        await ensureDayPartitions(db, clock.now());
        partitionsEnsured = true;
      } else if (!isRetryable(error) || attempts >= ATTEMPTS_MAX) {
        throw error;
      }
    }
  }
}
