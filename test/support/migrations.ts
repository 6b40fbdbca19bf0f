import { readdir, readFile } from "node:fs/promises";
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

/** Lets a database count as migrated without these migrations. The functions are stored, but not made. */
export async function pretendApplied(url: string, migrations: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create table schema_functions (name text primary key, definition text not null)");
  for (const file of migrations)
    await client.query("insert into schema_migrations (name, run_on) values ($1, now())", [
      file.replace(".sql", ""),
    ]);
  for (const file of await readdir("functions"))
    await client.query("insert into schema_functions values ($1, $2)", [
      file.replace(".sql", ""),
      await readFile(`functions/${file}`, "utf8"),
    ]);
  await client.end();
}
