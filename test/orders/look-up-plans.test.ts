import { afterAll, beforeAll, expect, it } from "vitest";
import { readKeys } from "../../src/merchants/keys-sql.ts";
import { readEarlierOrders } from "../../src/orders/creation/place-orders-sql.ts";
import { readOrders, readOrdersByExternalId } from "../../src/orders/orders-sql.ts";
import { findOpenParcels, findOrdersByLabel } from "../../src/orders/owners-sql.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { copyScript } from "../support/many-orders.ts";
import { connectionKey } from "../support/orders.ts";
import { describeOnPlainPostgres } from "../support/plain-postgres.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const onPlain = describeOnPlainPostgres("Plans of Citus name its tasks.");

let test: TestService;
let partner: Partner;
let orderId: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  await placeOrder(partner);
  const [order] = await test.db.query<{ id: string }>({
    name: "id",
    text: "select id from orders",
    values: [],
  });
  orderId = order?.id ?? "";
});
afterAll(() => test.close());

let copies = 0;
/**
 * Copies the only order, so that the table has grown and has no statistics, as after the first busy minute. In parts: a
 * busy machine takes long.
 */
async function copyOrder(count: number): Promise<void> {
  for (; copies < count; copies += 1_000)
    await test.db.runScript(`
      set session_replication_role = replica;
      ${copyScript({ of: `o.id = '${orderId}'`, from: copies + 1, to: copies + 1_000, name: "'copy-' || n" })}
      reset session_replication_role`);
}

/** How PostgreSQL would enter the indexes of orders, planned for any values. */
const indexScans = (work: (db: Queryable) => Promise<unknown>): Promise<string> =>
  test.db.withClient(async (client) => {
    const plan: string[] = [];
    await client.query("set plan_cache_mode = force_generic_plan");
    await work({
      isDistributed: async () => false,
      async query({ text, values }) {
        await client.query(`prepare looked_up as ${text}`);
        const { rows } = await client.query<{ "QUERY PLAN": string }>(
          `explain execute looked_up (${values.map(() => "null").join(", ")})`,
        );
        await client.query("deallocate looked_up");
        plan.push(...rows.map((row) => row["QUERY PLAN"].trim()));
        return [];
      },
    });
    await client.query("reset plan_cache_mode");
    return plan.filter((line) => /Scan .*\borders|Index Cond/.test(line)).join("\n");
  });

type LookUp = [name: string, work: (db: Queryable) => Promise<unknown>, key: RegExp];
const READS: LookUp[] = [
  ["by id", (db) => readOrders(db, connectionKey(partner), [orderId]), /\bid = listed\.id/],
  [
    "by external id",
    (db) => readOrdersByExternalId(db, connectionKey(partner), ["copy-1"]),
    /external_order_id = listed/,
  ],
  ["by a scanned label", (db) => findOrdersByLabel(db, "copy-1", 10), /external_order_id = \$1/],
  [
    "by a scanned tracking number",
    (db) => findOrdersByLabel(db, "T", 10),
    /lower\(translate\(tracking_number, .*\) = ANY/,
  ],
  [
    "by the number of a parcel",
    (db) => findOpenParcels(db, ["t"]),
    /lower\(translate\(tracking_number, .*\) = ANY/,
  ],
  ["by a scanned return", (db) => findOrdersByLabel(db, "R", 10), /Cond: \(reference = \$1\)/],
];

// The plans of reads are kept (docs/design/database.md, "Plans and statistics"), so they must be right for a table that is
// still small, too.
onPlain("one of a thousand orders is looked up by its own key, also before there are statistics", () => {
  beforeAll(() => copyOrder(1_000));

  it.each(READS)("%s", async (_, work, key) => {
    expect(await indexScans(work)).toMatch(key);
  });
});

onPlain(
  "an order is looked up by its own key, not among its merchant's, also before there are statistics",
  () => {
    beforeAll(() => copyOrder(20_000));

    it.each<LookUp>([
      ...READS,
      [
        "for a foreign key",
        (db) =>
          db.query({
            name: "foreign-key",
            text: "select 1 from orders where merchant_id = $1::uuid and id = $2::uuid for key share",
            values: [connectionKey(partner).merchantId, orderId],
          }),
        /\bid = \$2/,
      ],
      [
        "by idempotency key",
        (db) =>
          readEarlierOrders(db, [
            { ...connectionKey(partner), idempotencyKey: "copy-1", externalOrderId: "copy-1" },
          ]),
        /idempotency_key = /,
      ],
    ])("%s", async (_, work, key) => {
      expect(await indexScans(work)).toMatch(key);
    });
  },
);

/** How often each run of this work has planned its statement for its own values, run after run. */
const ownPlans = (work: (db: Queryable) => Promise<unknown>): Promise<number[]> =>
  test.db.withClient(async (client) => {
    const counts: number[] = [];
    for (let run = 0; run < 8; run += 1)
      await work({
        isDistributed: async () => false,
        async query(statement) {
          await client.query(statement);
          const { rows } = await client.query(
            "select custom_plans::integer as count from pg_prepared_statements where name = $1",
            [statement.name],
          );
          counts.push(rows[0].count);
          return [];
        },
      });
    return counts;
  });

// PostgreSQL plans a statement five times for its values before it may keep a plan
// (docs/design/database.md, "Plans and statistics").
onPlain("what every request looks up is not planned every time, also for a single order", () => {
  it.each<[string, (db: Queryable) => Promise<unknown>]>([
    ["a key", (db) => readKeys(db, ["ab".repeat(32)])],
    ["an order by id", (db) => readOrders(db, connectionKey(partner), [orderId])],
    ["an order by external id", (db) => readOrdersByExternalId(db, connectionKey(partner), ["copy-1"])],
  ])("%s", async (_, work) => {
    expect((await ownPlans(work)).slice(5)).toEqual([5, 5, 5]);
  });
});
