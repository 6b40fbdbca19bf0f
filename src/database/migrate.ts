import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runner } from "node-pg-migrate";
import type { Clock } from "../clock.ts";
import type { Database } from "./database.ts";
import { ensureEventPartitions } from "./event-partitions.ts";

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "migrations");

/**
 * Brings the schema up to date: every migration in a transaction of its own, each exactly once. Processes that
 * start together wait for each other.
 */
export async function migrate(db: Database, clock: Clock, log: (message: string) => void): Promise<void> {
  await db.withClient(async (client) => {
    await client.query("select pg_advisory_lock(7305220, 1)");
    try {
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
      await client.query("select pg_advisory_unlock(7305220, 1)");
    }
  });
  await ensureEventPartitions(db, clock.now());
}
