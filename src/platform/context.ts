import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { Database, Queryable } from "./database/database.ts";
import { retried } from "./database/retry.ts";
import type { NewId } from "./ids.ts";
import type { Metrics } from "./metrics.ts";
import type { Signals } from "./signals.ts";
import type { Clock } from "./time.ts";

/** Every operation receives it. It is created once at start. */
export type Context = {
  readonly config: Config;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly db: Database;
  readonly log: Logger;
  readonly signals: Signals;
  /** Counts the attempts that no dispatcher makes. Absent where no metrics are read. */
  readonly attemptMade?: Metrics["attemptMade"];
};

/** Runs `work` in one transaction, and retries it after a deadlock. */
export const inTransaction = <T>(
  { db, clock }: Pick<Context, "db" | "clock">,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> => retried(db, clock, () => db.transaction(work));
