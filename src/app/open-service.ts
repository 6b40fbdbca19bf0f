import type { Logger } from "pino";
import { commandsOnCitus } from "../distribution/commands-on-citus.ts";
import { openKeyring } from "../keyring/open-keyring.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { type Database, openDatabase } from "../platform/database/database.ts";
import { ensureDayPartitions } from "../platform/database/day-partitions.ts";
import { migrate, pendingMigrations } from "../platform/database/migrate.ts";
import { serversOf } from "../platform/database/servers/find-primary.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { StartError } from "../platform/environment/start-error.ts";
import { newIdsFrom } from "../platform/ids.ts";
import { atMostEvery } from "../platform/log.ts";
import { openSignalChannel, type SignalChannel } from "../platform/signals.ts";
import { SECOND_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/context.ts";
import { createPools, type Pools } from "./pools.ts";

/** Opens the database. Starts neither a listener nor a worker. */
export type OpenService = {
  readonly context: WebhookContext;
  readonly signals: SignalChannel;
  /** Further connections to the same database, for work that must not use those of other work. */
  readonly pools: Pools;
  /** Resolves if the embedded server ended and cannot be restarted. The process cannot work any more. */
  readonly databaseLost: Promise<Error>;
  /** Closes the database, and stops the embedded server unless another process uses it. */
  close(): Promise<void>;
};

export type OpenDatabase = Pick<OpenService, "pools" | "databaseLost"> & {
  readonly url: string;
  readonly db: Database;
  close(): Promise<void>;
};

/** The database's schema is older than this program, and the caller did not request a migration. */
export class PendingMigrationsError extends StartError {
  constructor(pending: readonly string[]) {
    super(
      `The database lacks ${pending.length} of this program's migrations: start the service, or run: npm run cli -- migrate`,
    );
    this.name = "PendingMigrationsError";
  }
}

/**
 * Finds or starts the embedded server if no database is configured, and opens a pool. Reads and writes no table.
 * @param options.mayCreate whether it creates an embedded database if there is none
 */
export async function openConfiguredDatabase(
  config: Config,
  log: Logger,
  { mayCreate }: { mayCreate: boolean },
): Promise<OpenDatabase> {
  const lost = Promise.withResolvers<Error>();
  const postgres =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          mayCreate,
          log: (message) => log.info(message),
          guard: { warn: (fields, message) => log.warn(fields, message), onGivenUp: lost.resolve },
        })
      : { url: config.databaseUrl, servers: serversOf(config.databaseUrl), stop: async () => undefined };
  const onIdleError = atMostEvery(SECOND_MS, (err: Error, count) =>
    log.warn({ err, count }, "database connections lost, will be replaced"),
  );
  const address = { url: postgres.url, servers: postgres.servers };
  const pools = createPools((options) => openDatabase({ ...options, ...address, onIdleError }));
  return {
    url: postgres.url,
    databaseLost: lost.promise,
    db: pools.get("service"),
    pools,
    close: async () => {
      await pools.close();
      await postgres.stop();
    },
  };
}

/**
 * Opens the database and creates the context.
 * @param schema `migrate` migrates the database and creates partitions ahead; `as-it-is` changes nothing and
 *   throws PendingMigrationsError if migrations are missing
 * @throws ConfigError if secrets in the database are encrypted with a key that is not configured
 * @throws SecretFileError if the file of their key is missing
 */
export async function openService(
  config: Config,
  log: Logger,
  clock: Clock,
  schema: "migrate" | "as-it-is",
): Promise<OpenService> {
  const database = await openConfiguredDatabase(config, log, { mayCreate: schema === "migrate" });
  const { url, db } = database;
  try {
    if (schema === "migrate") await bringUpToDate(url, db, log, clock);
    else await rejectPendingMigrations(db);
    const secrets = await openKeyring(config, db, clock.now());
    const newId = newIdsFrom(clock);
    const signals = openSignalChannel(db, log, newId());
    const context: WebhookContext = { config, clock, newId, db, log, signals, secrets };
    return { context, signals, ...database };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Migrates the database and creates partitions ahead, as a start of the service does. It needs no key of secrets. */
export async function migrateConfiguredDatabase(config: Config, log: Logger, clock: Clock): Promise<void> {
  const { url, db, close } = await openConfiguredDatabase(config, log, { mayCreate: true });
  try {
    await bringUpToDate(url, db, log, clock);
  } finally {
    await close();
  }
}

async function bringUpToDate(url: string, db: Database, log: Logger, clock: Clock): Promise<void> {
  await migrate(url, (message) => log.warn(message), commandsOnCitus);
  await ensureDayPartitions(db, clock.now());
}

async function rejectPendingMigrations(db: Database): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0) throw new PendingMigrationsError(pending);
}
