import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { parse } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { commandsOnCitus } from "../../../src/platform/database/commands-on-citus.ts";
import { openDatabase, type Pool } from "../../../src/platform/database/database.ts";
import { migrate, pendingMigrations } from "../../../src/platform/database/migrate.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { migrateBefore } from "../../support/migrations.ts";
import { createDatabase } from "../../support/test-service.ts";

const SILENT = { info: () => undefined, warn: () => undefined };

/** Locks the table, as each change of an endpoint does. */
const CHANGE = {
  name: "test-change-connection",
  text: "update connections set created_at = created_at where merchant_id = $1",
  values: ["01a1fc93-691a-7dab-a31b-167027d168d6"],
};

function open(url: string): Pool {
  const db = openDatabase({ url, connectionsMax: 5, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  return db;
}

/** A database without the migrations from one of them on. */
async function createOlderDatabase(firstLeftOut: string): Promise<string> {
  const url = new URL(await createDatabase());
  const name = `older_${randomUUID().replaceAll("-", "")}`;
  await open(url.href).runScript(`create database ${name}`);
  url.pathname = `/${name}`;
  await migrateBefore(url.href, (await readdir("migrations")).filter((file) => file >= firstLeftOut).length);
  return url.href;
}

it("a migration that does not get a lock makes room for others, and is applied when it gets the lock", async () => {
  const url = await createOlderDatabase("0007"); // It and later ones lock `connections`.
  const db = open(url);
  const waited = Promise.withResolvers<string>();
  const both = await db.transaction(async (tx) => {
    await tx.query(CHANGE);
    const migrating = migrate(url, { ...SILENT, warn: waited.resolve }, commandsOnCitus);
    expect(await waited.promise).toContain("waited for a lock");
    await db.query(CHANGE);
    return [migrating];
  });
  await Promise.all(both);
  expect(await pendingMigrations(db)).toEqual([]);
});

it("a migration that would wait for a request which waits for it begins again", async () => {
  const url = await createOlderDatabase("0005"); // It locks `products`, and then `facilities`.
  const db = open(url);
  const changes = (table: string) => ({
    name: `test-${table}`,
    text: `update ${table} set name = name`,
    values: [],
  });
  const waited = Promise.withResolvers<string>();
  const both = await db.transaction(async (tx) => {
    // On a busy machine PostgreSQL would find the deadlock at the request first, and end it in place of the migration.
    await tx.query({ name: "test-find-late", text: "set local deadlock_timeout = '1min'", values: [] });
    await tx.query(changes("facilities"));
    const migrating = migrate(url, { ...SILENT, warn: waited.resolve }, commandsOnCitus);
    await untilBlocked({ db }, 1);
    await tx.query(changes("products"));
    return { migrating };
  });
  await both.migrating;
  expect(await waited.promise).toContain("waited for a lock");
  expect(await pendingMigrations(db)).toEqual([]);
});

const countMoveGoods = (db: Pool) =>
  db.query({
    name: "test-move-goods",
    text: "select pronargs::integer as parameters from pg_proc where proname = 'move_goods'",
    values: [],
  });

it("a function whose text has changed is replaced, also if its parameters have changed", async () => {
  const url = await createDatabase();
  const db = open(url);
  const whole = await countMoveGoods(db);
  await db.runScript(`
    drop function move_goods;
    create function move_goods(of_merchant uuid) returns void language sql as 'select';
    update schema_functions
    set definition = 'create or replace function move_goods(of_merchant uuid) returns void language sql as $$select$$'
    where name = 'move_goods'`);
  expect(await pendingMigrations(db)).toEqual(["function move_goods"]);
  await migrate(url, SILENT, commandsOnCitus);
  expect(await pendingMigrations(db)).toEqual([]);
  expect(await countMoveGoods(db)).toEqual(whole);
});

it("the functions of a later version stay as they are", async () => {
  const url = await createDatabase();
  const db = open(url);
  await db.runScript(`
    update schema_functions set definition = 'of a later version';
    insert into schema_migrations (name, run_on) values ('9999_later', now())`);
  expect(await pendingMigrations(db)).toEqual([]);
});

it("a process says which migrations it applies, and that it waits for those of another process", async () => {
  const url = await createOlderDatabase("0007");
  const db = open(url);
  const lines: unknown[][] = [];
  const waiting = Promise.withResolvers<void>();
  const log = {
    warn: () => undefined,
    info: (...line: unknown[]) => {
      lines.push(line);
      waiting.resolve();
    },
  };
  const both = await db.transaction(async (tx) => {
    await tx.query({ name: "test-lock", text: "select pg_advisory_xact_lock(7305220, 1)", values: [] });
    const migrating = migrate(url, log, commandsOnCitus);
    await waiting.promise;
    expect(lines).toEqual([["waiting for migrations of another process"]]);
    return { migrating };
  });
  await both.migrating;
  const files = (await readdir("migrations")).filter((file) => file >= "0007").sort();
  expect(lines.slice(1, -1)).toEqual(
    files.map((file) => [{ migration: parse(file).name }, "applying migration"]),
  );
  expect(lines.at(-1)).toEqual([{ functions: expect.any(Array) }, "applying functions"]);
});
