import { afterAll, beforeAll, describe, expect } from "vitest";
import { gatherFirstStatistics } from "../../src/operations/partitions.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

/** How PostgreSQL looks up an order for a foreign key, when it plans for any order. */
async function planOfKeyLookUp(): Promise<string> {
  return test.db.withClient(async (client) => {
    await client.query("set plan_cache_mode = force_generic_plan");
    await client.query(
      "prepare look_up as select 1 from orders where merchant_id = $1::uuid and id = $2::uuid",
    );
    const { rows } = await client.query("explain execute look_up (null, null)");
    await client.query("deallocate look_up; reset plan_cache_mode");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

/** Orders of one connection, without their lines: only the size of the table matters here. */
const storeOrders = (count: number) =>
  test.db.runScript(`
    set session_replication_role = replica;
    insert into orders (
      merchant_id, connection_id, id, test_mode, status, hold_reasons, goods_minor, currency, country_code, created_at, updated_at,
      changed_at, last_sequence)
    select '01a1fc93-691a-7dab-a31b-167027d168d6', '01a1fc93-691a-7dab-a31b-167027d168d7', gen_random_uuid(), false, 'ACCEPTED', '{}',
           100, 'EUR', 'GB', now(), now(), now(), 1
    from generate_series(1, ${count}) as n;
    reset session_replication_role`);

describe("first statistics", () => {
  itOnPlainPostgres("On Citus the autovacuum of each node gathers the statistics of its shards.")(
    "leaves small tables alone, and teaches the planner a grown one, once",
    async () => {
      expect(await gatherFirstStatistics(test.db)).toBe(0);
      await storeOrders(10);
      expect(await gatherFirstStatistics(test.db)).toBe(0);
      await storeOrders(5_000);
      expect(await gatherFirstStatistics(test.db)).toBe(1);
      expect(await planOfKeyLookUp()).toContain("orders_pkey");
      expect(await gatherFirstStatistics(test.db)).toBe(0);
    },
  );
});
