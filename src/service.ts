import type { Logger } from "pino";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database, Queryable } from "./database/database.ts";
import { retried } from "./database/retry.ts";
import type { NewId } from "./ids.ts";
import type { SecretBox } from "./webhooks/endpoints/secret-box.ts";

/** What every operation works with, made once at start. */
export type Service = {
  readonly config: Config;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly db: Database;
  readonly log: Logger;
  /** Encrypts what must not lie readable in the database. */
  readonly secrets: SecretBox;
  /**
   * Tells the dispatchers that deliveries of these connections have become due. To be called after the commit; a call
   * that is lost costs only time, since dispatchers look by themselves as well.
   */
  readonly wakeDispatchers: (connectionIds: Iterable<string>) => void;
  /** Tells them that endpoints of a connection are no longer as they were: what has been claimed ahead is taken back. */
  readonly endpointsChanged: (connectionId: string) => void;
};

/** One step: everything in it commits together or not at all, and it is done again after a deadlock. */
export const inOneStep = <T>({ db, clock }: Service, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  retried(db, clock, () => db.transaction(work));
