import { readdir } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import { type Queryable, sqlState } from "./database.ts";
import { openSession } from "./servers/open-session.ts";

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "migrations");
const MIGRATIONS_TABLE = "schema_migrations";
const UNDEFINED_TABLE = "42P01";

/**
 * Applies the migrations that the database lacks, each in its own transaction. Processes that start together wait for
 * each other. It uses its own connection, without the time limits of other statements.
 */
export async function migrate(url: string, log: (message: string) => void): Promise<void> {
  const client = await openSession(url);
  try {
    await client.query("select pg_advisory_lock(7305220, 1)");
    await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: "up",
      migrationsTable: MIGRATIONS_TABLE,
      // The lock above waits. The runner's own lock would make the second process fail.
      noLock: true,
      singleTransaction: false,
      logger: { info: () => undefined, debug: () => undefined, warn: log, error: log },
    });
  } finally {
    await client.end(); // This also releases the lock.
  }
}

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
