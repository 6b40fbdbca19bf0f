import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import pg from "pg";

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "migrations");

/**
 * Brings the schema up to date: every migration in a transaction of its own, each exactly once. Processes that
 * start together wait for each other. On a connection of its own, without the time limits of a request's statements.
 */
export async function migrate(url: string, log: (message: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "partner-orders" });
  client.on("error", () => undefined); // The statement under way fails with it.
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(7305220, 1)");
    await runner({
      dbClient: client,
      dir: MIGRATIONS_DIR,
      direction: "up",
      migrationsTable: "schema_migrations",
      // The lock above waits; the runner's own would fail the second process instead.
      noLock: true,
      singleTransaction: false,
      logger: { info: () => undefined, debug: () => undefined, warn: log, error: log },
    });
  } finally {
    await client.end(); // Which also lets go of the lock.
  }
}
