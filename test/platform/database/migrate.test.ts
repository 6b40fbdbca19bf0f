import { expect, it } from "vitest";
import { commandsOnCitus } from "../../../src/distribution/commands-on-citus.ts";
import { migrate, pendingMigrations } from "../../../src/platform/database/migrate.ts";
import { startServiceForTest } from "../../support/test-service.ts";

/** Locks the table, as each change of an order does. */
const CHANGE = {
  name: "test-change-order",
  text: "update orders set note = null where merchant_id = $1",
  values: ["01a1fc93-691a-7dab-a31b-167027d168d6"],
};

it("a migration that does not get a lock makes room for others, and is applied when it gets the lock", async () => {
  const test = await startServiceForTest();
  await test.db.runScript(`
    drop index orders_ready_idx;
    delete from schema_migrations where name >= '0100'`);
  const waited = Promise.withResolvers<string>();
  const both = await test.db.transaction(async (tx) => {
    await tx.query(CHANGE);
    const migrating = migrate(test.context.config.databaseUrl ?? "", waited.resolve, commandsOnCitus);
    expect(await waited.promise).toContain("waited for a lock");
    await test.db.query(CHANGE);
    return [migrating];
  });
  await Promise.all(both);
  expect(await pendingMigrations(test.db)).toEqual([]);
});
