import { readdir } from "node:fs/promises";
import { runner } from "node-pg-migrate";
import pg from "pg";

/** Applies all migrations but the newest ones. */
export async function migrateBefore(url: string, newestCount: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await runner({
    dbClient: client,
    dir: "migrations",
    direction: "up",
    migrationsTable: "schema_migrations",
    count: (await readdir("migrations")).length - newestCount,
    singleTransaction: false,
    logger: { info: () => undefined, debug: () => undefined, warn: () => undefined, error: () => undefined },
  });
  await client.end();
}
