import { readdir, readFile } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type MigrationBuilder, type RunnerOption, runner } from "node-pg-migrate";
import type pg from "pg";
import { type Queryable, sqlState } from "./database.ts";
import { isDistributed } from "./distributed.ts";
import { openSession } from "./servers/open-session.ts";

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "migrations");
const MIGRATIONS_TABLE = "schema_migrations";
const UNDEFINED_TABLE = "42P01";
/** lock_not_available, and deadlock_detected: a request locks the same tables in another order. PostgreSQL finds that after a second. */
const LOCK_NOT_OBTAINED: ReadonlySet<string | null> = new Set(["55P03", "40P01"]);

/**
 * Longest wait of a migration for a lock. All who need the table afterwards wait behind it. It is longer than a second: then
 * PostgreSQL ends an automatic vacuum that is in the way.
 */
const LOCK_WAIT_MS = 2_000;
/** Time for those who waited, before the migration is applied again. */
const PAUSE_MS = 4_000;

type LoaderStrategy = NonNullable<RunnerOption["migrationLoaderStrategies"]>[number];
type CommandsOf = (sql: string) => string[];

/**
 * Applies the migrations that the database lacks, each in its own transaction. Processes that start together wait for
 * each other. It uses its own connection, without the time limits of other statements. A migration that does not get a lock
 * is rolled back and applied again, until it gets all (decision 0202).
 * @param commandsOnCitus makes the commands for a distributed database of a migration
 */
export async function migrate(
  url: string,
  log: (message: string) => void,
  commandsOnCitus: CommandsOf,
): Promise<void> {
  const client = await openSession(url);
  try {
    await client.query("select pg_advisory_lock(7305220, 1)");
    await client.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
    const distributed = await isDistributed(async (query) => (await client.query(query)).rows, {
      isDistributed: null,
    });
    if (distributed) await client.query(SETTINGS_ON_CITUS);
    const strategies = distributed ? [separately(commandsOnCitus)] : null;
    while (!(await applyMigrations(client, log, strategies))) {
      log(`migration waited for a lock for ${LOCK_WAIT_MS} ms, will retry`);
      await delay(PAUSE_MS);
    }
  } finally {
    await client.end(); // This also releases the lock.
  }
}

/** Applies one after the other. False: one did not get a lock. It has changed nothing, and those before it are applied. */
async function applyMigrations(
  dbClient: pg.Client,
  log: (message: string) => void,
  strategies: LoaderStrategy[] | null,
): Promise<boolean> {
  const errors: string[] = [];
  try {
    await runner({
      dbClient,
      dir: MIGRATIONS_DIR,
      direction: "up",
      migrationsTable: MIGRATIONS_TABLE,
      // The lock above waits. The runner's own lock would make the second process fail.
      noLock: true,
      singleTransaction: false,
      ...(strategies !== null && { migrationLoaderStrategies: strategies }),
      logger: {
        info: () => undefined,
        debug: () => undefined,
        warn: log,
        error: (message) => errors.push(message),
      },
    });
    return true;
  } catch (error) {
    await dbClient.query("rollback");
    if (LOCK_NOT_OBTAINED.has(sqlState(error))) return false;
    for (const message of errors) log(message);
    throw error;
  }
}

/** A command on tables of several kinds uses one connection for each node. */
const SETTINGS_ON_CITUS = "set citus.multi_shard_modify_mode = 'sequential'";

/** A setting of the session does not reach the nodes. */
const LIMIT_ON_NODES = [
  "set local citus.propagate_set_commands to 'local'",
  `set local lock_timeout to ${LOCK_WAIT_MS}`,
];

/** Runs each command of a migration alone, in the same transaction. */
const separately = (commandsOf: CommandsOf): LoaderStrategy => ({
  extensions: [".sql"],
  loader: (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const commands = [...LIMIT_ON_NODES, ...commandsOf(await readFile(path, "utf8"))];
        const up = (builder: MigrationBuilder): void => {
          for (const command of commands) builder.sql(command);
        };
        return { id: path, filePaths: [path], actions: { up, down: false } };
      }),
    ),
});

/** The names of the migrations that the database lacks, oldest first. Changes nothing. */
export async function pendingMigrations(db: Queryable): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIR);
  const applied = new Set(await listAppliedMigrations(db));
  return files
    .map((file) => parse(file).name)
    .filter((name) => !applied.has(name))
    .sort();
}

async function listAppliedMigrations(db: Queryable): Promise<string[]> {
  try {
    const rows = await db.query<{ name: string }>({
      name: "list-applied-migrations",
      text: `select name from ${MIGRATIONS_TABLE}`,
      values: [],
    });
    return rows.map(({ name }) => name);
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
