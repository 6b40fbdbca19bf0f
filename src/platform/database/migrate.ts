import { readdir, readFile } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { type MigrationBuilder, type RunnerOption, runner } from "node-pg-migrate";
import { type Queryable, sqlState } from "./database.ts";
import { isDistributed } from "./distributed.ts";
import { openSession } from "./servers/open-session.ts";

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "migrations");
const MIGRATIONS_TABLE = "schema_migrations";
const UNDEFINED_TABLE = "42P01";

type LoaderStrategy = NonNullable<RunnerOption["migrationLoaderStrategies"]>[number];
type CommandsOf = (sql: string) => string[];

/**
 * Applies the migrations that the database lacks, each in its own transaction. Processes that start together wait for
 * each other. It uses its own connection, without the time limits of other statements.
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
    const distributed = await isDistributed(async (query) => (await client.query(query)).rows, {
      isDistributed: null,
    });
    if (distributed) await client.query(SETTINGS_ON_CITUS);
    await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: "up",
      migrationsTable: MIGRATIONS_TABLE,
      // The lock above waits. The runner's own lock would make the second process fail.
      noLock: true,
      singleTransaction: false,
      ...(distributed && { migrationLoaderStrategies: [separately(commandsOnCitus)] }),
      logger: { info: () => undefined, debug: () => undefined, warn: log, error: log },
    });
  } finally {
    await client.end(); // This also releases the lock.
  }
}

/** A command on tables of several kinds uses one connection for each node. */
const SETTINGS_ON_CITUS = "set citus.multi_shard_modify_mode = 'sequential'";

/** Runs each command of a migration alone, in the same transaction. */
const separately = (commandsOf: CommandsOf): LoaderStrategy => ({
  extensions: [".sql"],
  loader: (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const commands = commandsOf(await readFile(path, "utf8"));
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
