import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { commandsOnCitus } from "../../../src/distribution/commands-on-citus.ts";
import { openDatabase, type Pool } from "../../../src/platform/database/database.ts";
import { migrate, pendingMigrations } from "../../../src/platform/database/migrate.ts";
import { migrateBefore } from "../../support/migrations.ts";
import { createDatabase } from "../../support/test-service.ts";

/** Locks the table, as each change of an order does. */
const CHANGE = {
  name: "test-change-order",
  text: "update orders set note = null where merchant_id = $1",
  values: ["01a1fc93-691a-7dab-a31b-167027d168d6"],
};

function open(url: string): Pool {
  const db = openDatabase({ url, connectionsMax: 5, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  return db;
}

/** A database without the newest migrations, which lock `orders`. */
async function createOlderDatabase(): Promise<string> {
  const url = new URL(await createDatabase());
  const name = `older_${randomUUID().replaceAll("-", "")}`;
  await open(url.href).runScript(`create database ${name}`);
  url.pathname = `/${name}`;
  await migrateBefore(url.href, (await readdir("migrations")).filter((file) => file >= "0091").length);
  return url.href;
}

it("a migration that does not get a lock makes room for others, and is applied when it gets the lock", async () => {
  const url = await createOlderDatabase();
  const db = open(url);
  const waited = Promise.withResolvers<string>();
  const both = await db.transaction(async (tx) => {
    await tx.query(CHANGE);
    const migrating = migrate(url, waited.resolve, commandsOnCitus);
    expect(await waited.promise).toContain("waited for a lock");
    await db.query(CHANGE);
    return [migrating];
  });
  await Promise.all(both);
  expect(await pendingMigrations(db)).toEqual([]);
});
