import type { Logger } from "pino";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database, Queryable } from "./database/database.ts";
import { retried } from "./database/retry.ts";
import type { NewId } from "./ids.ts";

/** What every operation works with, made once at start. */
export type Service = {
  readonly config: Config;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly db: Database;
  readonly log: Logger;
};

/** One step: everything in it commits together or not at all, and it is done again after a deadlock. */
export const inOneStep = <T>({ db, clock }: Service, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  retried(db, clock, () => db.transaction(work));
