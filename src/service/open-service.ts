import { totalmem } from "node:os";
import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import { BULK_CONNECTIONS_MAX } from "../back-office/bulk-gate.ts";
import { openKeyring } from "../operations/keyring.ts";
import { type Config, ROLES, type Role } from "../platform/config.ts";
import { commandsOnCitus } from "../platform/database/commands-on-citus.ts";
import {
  type Database,
  type DatabaseOptions,
  type DatabaseUsage,
  openDatabase,
  type Pool,
  type Queryable,
} from "../platform/database/database.ts";
import { ensureDayPartitions } from "../platform/database/day-partitions.ts";
import { migrate, pendingMigrations } from "../platform/database/migrate.ts";
import { serversOf } from "../platform/database/servers.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { StartError } from "../platform/environment.ts";
import { newIdsFrom, toTypeId } from "../platform/ids.ts";
import { atMostEvery } from "../platform/log.ts";
import { openSignalChannel, type SignalChannel } from "../platform/signals.ts";
import { type Clock, SECOND_MS } from "../platform/time.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { processNames } from "./supervised.ts";

/** Opens the database. Starts neither a listener nor a worker. */
export type OpenService = {
  readonly context: WebhookContext;
  readonly signals: SignalChannel;
  /** Further connections to the same database, for work that must not use those of other work. */
  readonly pools: Pools;
  /** Resolves if the data of the embedded server has disappeared. The process cannot work any more. */
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

/** Of the embedded server, by name. */
export type PostgresSettings = Readonly<Record<string, string>>;

/**
 * Finds or starts the embedded server if no database is configured, and opens a pool. Reads and writes no table.
 * @param options.mayCreate whether it creates an embedded database if there is none
 */
export async function openConfiguredDatabase(
  config: Config,
  log: Logger,
  { mayCreate, postgresSettings = {} }: { mayCreate: boolean; postgresSettings?: PostgresSettings },
): Promise<OpenDatabase> {
  const lost = Promise.withResolvers<Error>();
  const postgres =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          mayCreate,
          settings: { ...embeddedSettings(config), ...postgresSettings },
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
 * @param postgresSettings override those of an embedded server that is started
 * @throws ConfigError if secrets in the database are encrypted with a key that is not configured
 * @throws SecretFileError if the file of their key is missing
 */
export async function openService(
  config: Config,
  log: Logger,
  clock: Clock,
  schema: "migrate" | "as-it-is",
  postgresSettings: PostgresSettings = {},
): Promise<OpenService> {
  const mayCreate = schema === "migrate";
  const database = await openConfiguredDatabase(config, log, { mayCreate, postgresSettings });
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
  await migrate(url, log, commandsOnCitus);
  await ensureDayPartitions(db, clock.now());
}

async function rejectPendingMigrations(db: Database): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0) throw new PendingMigrationsError(pending);
}

/** Connections that are named in the metrics. Few, so that the number of series stays small. */
const CONNECTIONS_SHOWN_MAX = 5;

/** How much each pool of this process is used, and by which connections most. Reads nothing from the database. */
export function addPoolMetrics(registry: Registry, { opened }: Pools, usage: DatabaseUsage): void {
  const labeled = { labelNames: ["pool"], registers: [registry] };
  new Gauge({
    ...labeled,
    name: "partner_orders_database_calls_in_use",
    help: "Connections to the database that are in use, by pool.",
    collect() {
      for (const [pool, { use }] of opened) this.set({ pool }, use().inUse);
    },
  });
  new Gauge({
    ...labeled,
    name: "partner_orders_database_connections_max",
    help: "Connections to the database that this process may have, by pool.",
    collect() {
      for (const pool of opened.keys()) this.set({ pool }, POOLS[pool].connectionsMax);
    },
  });
  new Gauge({
    ...labeled,
    name: "partner_orders_database_calls_waiting",
    help: "Calls that wait for a connection to the database, by pool.",
    collect() {
      for (const [pool, { use }] of opened) this.set({ pool }, use().waiting + usage.waitingFor(pool));
    },
  });
  new Counter({
    ...labeled,
    name: "partner_orders_database_seconds_total",
    help: "Time of statements and transactions, by pool.",
    collect() {
      this.reset();
      for (const [pool, { use }] of opened) this.inc({ pool }, use().totalMs / SECOND_MS);
    },
  });
  new Gauge({
    name: "partner_orders_connection_database_seconds",
    help: `Database time in the last minute or two of the ${CONNECTIONS_SHOWN_MAX} connections that used most.`,
    labelNames: ["connection"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [id, ms] of usage.top(CONNECTIONS_SHOWN_MAX))
        this.set({ connection: toTypeId("con", id) }, ms / SECOND_MS);
    },
  });
}

type PoolOptions = Pick<DatabaseOptions, "connectionsMax" | "statementTimeoutMs" | "lockTimeoutMs">;

/**
 * The connections to the database of each kind of work, so that one that is slow does not keep the others waiting
 * (docs/design/isolation-and-limits.md, "Pools and fair shares"). A process opens those of its roles only, and each when it is
 * first needed. `docs/operation.md` has the sums.
 */
export const POOLS = {
  /** The start, signals to other processes and, in a worker, those of others. */
  service: { connectionsMax: 3, statementTimeoutMs: 15_000 },
  /** Partners: 3 groups of keys and 1 of their uses, 4 groups of orders, 1 of rate limits and 7 other calls. */
  partners: { connectionsMax: 16, statementTimeoutMs: 2_000 },
  /** Groups of new orders. An order that waits longer for a lock leaves its group. */
  creations: { connectionsMax: 2, statementTimeoutMs: 2_000, lockTimeoutMs: 100 },
  /** Partners' lists: 3 groups of product pages and 4 other lists. */
  lists: { connectionsMax: 7, statementTimeoutMs: 2_000 },
  /**
   * Sign-in, sessions, tokens and rate limits of the back office, which its slow lists cannot take
   * (docs/design/isolation-and-limits.md, "Pools and fair shares").
   */
  people: { connectionsMax: 3, statementTimeoutMs: 5_000 },
  "back-office": { connectionsMax: 5, statementTimeoutMs: 15_000 },
  /** Work of the back office on many rows at once: `src/back-office/bulk-gate.ts` says how much of it. */
  bulk: { connectionsMax: BULK_CONNECTIONS_MAX, statementTimeoutMs: 15_000 },
  jobs: { connectionsMax: 8, statementTimeoutMs: 15_000 },
  dispatcher: { connectionsMax: 6, statementTimeoutMs: 5_000 },
  /** Readiness and metrics. */
  health: { connectionsMax: 2, statementTimeoutMs: 5_000 },
} as const satisfies Record<string, PoolOptions>;

type PoolName = keyof typeof POOLS;

/** The pools of a process with one role, beside `service` and `health`, which each has. */
const POOLS_OF_ROLE: Readonly<Record<Role, readonly PoolName[]>> = {
  api: ["partners", "creations", "lists"],
  "back-office": ["people", "back-office", "bulk"],
  worker: ["jobs", "dispatcher"],
};

/** The connections that the processes of a command may have at the same time. */
export function connectionsOf({ roles, processes }: Pick<Config, "roles" | "processes">): number {
  const names = processNames({ roles, processes });
  const sum = (pools: readonly PoolName[]): number =>
    pools.reduce((total, pool) => total + POOLS[pool].connectionsMax, 0);
  const own = [...roles].reduce(
    (total, role) => total + sum(POOLS_OF_ROLE[role]) * names.filter((name) => name.startsWith(role)).length,
    0,
  );
  return own + sum(["service", "health"]) * (processes === 1 ? 1 : names.length);
}

/** As many of PROCESSES as the database has connections for. */
export async function processesThatFit({ roles, processes }: Config, db: Queryable): Promise<number> {
  const [row] = await db.query<{ usable: number }>({
    name: "read-usable-connections",
    text: `
      select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
        as usable`,
    values: [],
  });
  let count = processes;
  while (count > 1 && connectionsOf({ roles, processes: count }) > (row?.usable ?? 0)) count -= 1;
  return count;
}

const MIB = 1_048_576;
/** The command line, `psql`, a second start of the service at an upgrade. */
const FURTHER_CONNECTIONS = 45;

/** What the embedded server gets of this machine: a sixteenth of its memory, and connections for all processes. */
function embeddedSettings({ processes }: Config): Record<string, string> {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const buffers = Math.min(4_096, Math.max(128, Math.floor(memory / 16 / MIB)));
  return {
    shared_buffers: `${buffers}MB`,
    max_connections: String(
      Math.max(100, connectionsOf({ roles: new Set(ROLES), processes }) + FURTHER_CONNECTIONS),
    ),
  };
}

/** Opens a pool when it is first requested. */
type Pools = {
  get(name: PoolName): Pool;
  /** The pools that have been requested. */
  readonly opened: ReadonlyMap<PoolName, Pool>;
  close(): Promise<void>;
};

export function createPools(open: (options: PoolOptions) => Pool): Pools {
  const opened = new Map<PoolName, Pool>();
  return {
    get(name) {
      const pool = opened.get(name) ?? open(POOLS[name]);
      opened.set(name, pool);
      return pool;
    },
    opened,
    close: async () => {
      await Promise.all([...opened.values()].map((pool) => pool.close()));
    },
  };
}
