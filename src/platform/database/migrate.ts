import { readdir, readFile } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type MigrationBuilder, type RunnerOption, runner } from "node-pg-migrate";
import type pg from "pg";
import type { Logger } from "pino";
import { isDistributed, type Queryable, sqlState } from "./database.ts";
import { openDatabaseSession } from "./servers.ts";

const ROOT_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const MIGRATIONS_DIR = join(ROOT_DIR, "migrations");
/** One file a function, with its current text. */
const FUNCTIONS_DIR = join(ROOT_DIR, "functions");
const MIGRATIONS_TABLE = "schema_migrations";
/** The definition of each function that was applied. */
const FUNCTIONS_TABLE = "schema_functions";
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
 * Applies the migrations that the database lacks, each in its own transaction, and then the functions whose text has changed,
 * in one. Processes that start together wait for each other. It uses its own connection, without the time limits of other
 * statements. A migration that does not get a lock is rolled back and applied again, until it gets all
 * (docs/design/database.md, "Migrations and functions").
 * @param commandsOnCitus makes the commands for a distributed database of a migration
 */
export async function migrate(
  url: string,
  log: Pick<Logger, "info" | "warn">,
  commandsOnCitus: CommandsOf,
): Promise<void> {
  const client = await openDatabaseSession(url);
  try {
    await lockMigrations(client, log);
    await client.query(`set lock_timeout = ${LOCK_WAIT_MS}`);
    const distributed = await isDistributed(async (query) => (await client.query(query)).rows, {
      isDistributed: null,
    });
    if (distributed) await client.query(SETTINGS_ON_CITUS);
    while (!(await applyAll(client, log, distributed ? commandsOnCitus : null))) {
      log.warn(`migration waited for a lock for ${LOCK_WAIT_MS} ms, will retry`);
      await delay(PAUSE_MS);
    }
  } finally {
    await client.end(); // This also releases the lock.
  }
}

async function lockMigrations(client: pg.Client, log: Pick<Logger, "info">): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>(
    "select pg_try_advisory_lock(7305220, 1) as locked",
  );
  if (rows[0]?.locked) return;
  log.info("waiting for migrations of another process");
  await client.query("select pg_advisory_lock(7305220, 1)");
}

/** How the runner announces a migration. */
const ANNOUNCED = /^### MIGRATION (\S+) \(UP\) ###$/;

/**
 * Applies one after the other, and then the functions. False: one did not get a lock. It has changed nothing, and those before it
 * are applied.
 * @param commandsOf null on a plain PostgreSQL
 */
async function applyAll(
  dbClient: pg.Client,
  log: Pick<Logger, "info" | "warn">,
  commandsOf: CommandsOf | null,
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
      ...(commandsOf !== null && { migrationLoaderStrategies: [separately(commandsOf)] }),
      logger: {
        info: (message) => {
          const [, migration] = ANNOUNCED.exec(message) ?? [];
          if (migration !== undefined) log.info({ migration }, "applying migration");
        },
        debug: () => undefined,
        warn: (message) => log.warn(message),
        error: (message) => errors.push(message),
      },
    });
    await applyFunctions(dbClient, log, commandsOf);
    return true;
  } catch (error) {
    await dbClient.query("rollback");
    if (LOCK_NOT_OBTAINED.has(sqlState(error))) return false;
    for (const message of errors) log.warn(message);
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

/** The names of the migrations and functions that the database lacks, oldest first. Changes nothing. */
export async function pendingMigrations(db: Queryable): Promise<string[]> {
  const applied = await listAppliedMigrations(db);
  const pending = (await listMigrations()).filter((name) => !applied.includes(name));
  const functions = await listPendingFunctions(db);
  return [...pending, ...functions.map(({ name }) => `function ${name}`)];
}

const listMigrations = async (): Promise<string[]> =>
  (await readdir(MIGRATIONS_DIR)).map((file) => parse(file).name).sort();

async function listAppliedMigrations(db: Queryable): Promise<string[]> {
  const rows = await rowsIfTable(
    db.query<{ name: string }>({
      name: "list-applied-migrations",
      text: `select name from schema_migrations`,
      values: [],
    }),
  );
  return rows.map(({ name }) => name);
}

type PendingFunction = {
  readonly name: string;
  readonly definition: string;
  /** The definition that the database has. Null if it has none. */
  readonly applied: string | null;
};

/** Functions whose text has changed. None in a database of a later version: its functions belong to its tables. */
async function listPendingFunctions(db: Queryable): Promise<PendingFunction[]> {
  const known = await listMigrations();
  if ((await listAppliedMigrations(db)).some((name) => !known.includes(name))) return [];
  const rows = await rowsIfTable(
    db.query<{ name: string; definition: string }>({
      name: "list-applied-functions",
      text: `select name, definition from schema_functions`,
      values: [],
    }),
  );
  const applied = new Map(rows.map(({ name, definition }) => [name, definition]));
  const files = (await readdir(FUNCTIONS_DIR)).sort();
  const current = await Promise.all(
    files.map(async (file) => {
      const { name } = parse(file);
      const text = await readFile(join(FUNCTIONS_DIR, file), "utf8");
      return { name, definition: text.replaceAll("\r\n", "\n"), applied: applied.get(name) ?? null };
    }),
  );
  return current.filter((each) => each.definition !== each.applied);
}

/**
 * Applies the functions whose text has changed, in one transaction. A function with another declaration would stand beside the old
 * one, or be rejected, so the old one is dropped.
 */
async function applyFunctions(
  client: pg.Client,
  log: Pick<Logger, "info">,
  commandsOf: CommandsOf | null,
): Promise<void> {
  const pending = await listPendingFunctions({
    query: async (statement) => (await client.query(statement)).rows,
    isDistributed: async () => commandsOf !== null,
  });
  if (pending.length === 0) return;
  log.info({ functions: pending.map(({ name }) => name) }, "applying functions");
  await client.query("begin");
  await client.query(
    `create table if not exists ${FUNCTIONS_TABLE} (name text primary key, definition text not null)`,
  );
  for (const { name, definition, applied } of pending) {
    const isDeclaredOtherwise = applied !== null && declarationOf(applied) !== declarationOf(definition);
    const commands = commandsOf === null ? [definition] : [...LIMIT_ON_NODES, ...commandsOf(definition)];
    if (isDeclaredOtherwise) await client.query(`drop function ${name}`);
    for (const command of commands) await client.query(command);
    await client.query(
      `insert into ${FUNCTIONS_TABLE} values ($1, $2) on conflict (name) do update set definition = excluded.definition`,
      [name, definition],
    );
  }
  await client.query("commit");
}

/** What precedes the body of a function: its parameters and its result. */
const declarationOf = (definition: string): string =>
  /^create or replace function .*?(?=\bas \$)/ms.exec(definition)?.[0] ?? "";

/** The rows of a query, or none if its table does not exist yet. */
async function rowsIfTable<Row>(rows: Promise<Row[]>): Promise<Row[]> {
  try {
    return await rows;
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
