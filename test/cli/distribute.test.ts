import { readdir } from "node:fs/promises";
import { expect, inject, it, onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../src/platform/database/database.ts";
import { listTables, misplacedTables } from "../../src/platform/database/distribute.ts";
import { runCli } from "../support/cli.ts";
import { migrateBefore, pretendApplied } from "../support/migrations.ts";
import { createCitusDatabase, createDatabase } from "../support/test-service.ts";

it("distribute needs an address, the database itself, and a number of shards that is possible", async () => {
  const distribute = (environment: Record<string, string>, ...options: string[]) =>
    runCli(environment, ["distribute", ...options]);
  expect(await distribute({})).toMatchObject({ code: 2, errors: expect.stringContaining("DATABASE_URL") });
  const remote = await distribute({ PARTNER_ORDERS_URL: "https://example.com" });
  expect(remote).toMatchObject({ code: 2, errors: expect.stringContaining("beside the database only") });
  for (const count of ["0", "1025", "many"])
    expect((await distribute({}, "--shards", count)).errors).toContain("between 1 and 1024");
});

it.skipIf(inject("citusNodes").length > 0)("distribute changes nothing in a plain PostgreSQL", async () => {
  const result = await runCli({ DATABASE_URL: await createDatabase() }, ["distribute"]);
  expect(result).toMatchObject({ code: 1, output: "", errors: expect.stringContaining("lacks Citus") });
});

const onCitus = it.skipIf(inject("citusNodes").length === 0);

onCitus("distribute moves the rows that are there, once, and doctor says where the tables are", async () => {
  const url = await createCitusDatabase();
  const environment = { DATABASE_URL: url };
  const cli = (...args: string[]) => runCli(environment, args);
  const distributionOf = async () => {
    const { checks } = (await cli("doctor", "--json")).json();
    return checks.find(({ check }: { check: string }) => check === "distribution");
  };
  expect(await cli("distribute")).toMatchObject({ code: 1, errors: expect.stringContaining("run migrate") });
  await cli("migrate");
  await cli("merchant", "create", "--name", "Mugs", "--account-email", "m@example.com");
  expect(await distributionOf()).toMatchObject({ status: "warn" });

  const first = await cli("distribute", "--shards", "4");
  expect(first).toMatchObject({ code: 0, output: expect.stringMatching(/^Moved \d+ tables/) });
  expect(first.errors).toContain("orders: by merchant\n");
  expect((await cli("merchant", "list", "--json")).json().data).toHaveLength(1);
  expect(await distributionOf()).toMatchObject({ status: "ok" });

  const second = await cli("distribute", "--shards", "4");
  expect(second).toMatchObject({ code: 0, output: "All tables are where they should be.\n", errors: "" });
  const db = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  await db.runScript("select undistribute_table('audit_entries')");
  await db.close();
  expect((await distributionOf()).message).toContain("audit_entries");
  expect((await cli("distribute")).output).toBe("Moved 1 tables over the nodes.\n");
});

onCitus(
  "the newest migrations apply to a database that is distributed already, and place their tables",
  async () => {
    const newest = (await readdir("migrations")).sort().slice(-5);
    const url = await createCitusDatabase();
    const db = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
    await migrateBefore(url, newest.length);
    await pretendApplied(url, newest); // `distribute` wants all migrations.
    await runCli({ DATABASE_URL: url }, ["distribute", "--shards", "4"]);
    const names = newest.map((file) => `'${file.replace(".sql", "")}'`).join();
    await db.runScript(`delete from schema_migrations where name in (${names}); drop table schema_functions`);

    const migrated = await runCli({ DATABASE_URL: url }, ["migrate"]);
    expect(migrated, migrated.errors).toMatchObject({ code: 0 });
    expect(misplacedTables(await listTables(db))).toEqual([]);
    expect(await constraintsOf(db)).toEqual(await constraintsOf(await databaseOf(await createDatabase())));
    await db.close();
  },
);

async function databaseOf(url: string): Promise<Database> {
  const db = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  return db;
}

const constraintsOf = (db: Database) =>
  db.query({
    name: "test-constraints",
    text: `
      select t.relname, c.conname, pg_get_constraintdef(c.oid)
      from pg_constraint c
      join pg_class t on t.oid = c.conrelid
      where c.connamespace = current_schema()::regnamespace and not t.relispartition and c.conparentid = 0
      order by 1, 2`,
    values: [],
  });
