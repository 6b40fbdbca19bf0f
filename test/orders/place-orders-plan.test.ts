import { expect } from "vitest";
import { placementOf } from "../../src/orders/creation/create-order.ts";
import { KnownProducts, placeOrders } from "../../src/orders/creation/place-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { anOrder, createPartner, type Partner } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

const STORED = 2_000;
const GROUP = 64;

/** Places a group of orders; returns what became of them. */
async function placeGroup(
  test: TestService,
  db: Queryable,
  partner: Partner,
  keys: string,
  known?: KnownProducts,
): Promise<string[]> {
  const placements = Array.from({ length: GROUP }, (_, at) =>
    placementOf(
      connectionKey(partner),
      `${keys}-${at}`,
      anOrder(partner, { externalOrderId: `${keys}-${at}` }),
      undefined,
    ),
  );
  const context = { ...test.context, db: { ...test.context.db, query: db.query } };
  return (await placeOrders(context, placements, known)).map(({ outcome }) => outcome);
}

/** Rows of a table that the session has read, since a moment before the transaction. */
async function rowsRead(tx: Queryable, table: string): Promise<number> {
  const [row] = await tx.query<{ count: bigint }>({
    name: "test-rows-read",
    text: `
      select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
      from pg_stat_xact_user_tables
      where relname = $1`,
    values: [table],
  });
  return Number(row?.count);
}

itOnPlainPostgres("The statements of a function run on the node of the merchant.")(
  "a session that has placed orders when there were few endpoints reads no more when there are many",
  async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await createEndpoint(partner);
    await test.db.runScript("analyze webhook_endpoints");
    await test.db.transaction(async (tx) => {
      // PostgreSQL may keep a plan after five calls.
      for (let call = 1; call <= 7; call += 1) await placeGroup(test, tx, partner, `first-${call}`);
      await tx.query({
        name: "test-copy-endpoint",
        text: `
          insert into webhook_endpoints
          select (jsonb_populate_record(w, jsonb_build_object(
                   'id', gen_random_uuid(), 'number', 1000 + n, 'status', 'deleted'))).*
          from webhook_endpoints w, generate_series(1, ${STORED}) n`,
        values: [],
      });
      const before = await rowsRead(tx, "webhook_endpoints");
      expect(new Set(await placeGroup(test, tx, partner, "later"))).toEqual(new Set(["created"]));
      // To write the deliveries, and for their foreign keys.
      expect((await rowsRead(tx, "webhook_endpoints")) - before).toBe(2 * GROUP);
    });
  },
);

itOnPlainPostgres("The statements of a function run on the node of the merchant.")(
  "a session that has placed orders when there were few products compares no more of them when there are many",
  async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await test.db.runScript("analyze exposed_products, products, connections");
    await test.db.transaction(async (tx) => {
      const known = new KnownProducts();
      for (let call = 1; call <= 7; call += 1) await placeGroup(test, tx, partner, `first-${call}`, known);
      await tx.query({
        name: "test-copy-product",
        text: `
          with copied as (
            insert into products (merchant_id, id, sku, name, price_minor, currency, status, created_at, updated_at)
            select merchant_id, gen_random_uuid(), sku, name, price_minor, currency, status, created_at, updated_at
            from products p, generate_series(1, ${STORED})
            returning merchant_id, id
          )
          insert into exposed_products (merchant_id, connection_id, product_id, exposed_at)
          select c.merchant_id, $1, c.id, now()
          from copied c`,
        values: [connectionKey(partner).connectionId],
      });
      const tables = ["exposed_products", "products", "connections"];
      const before = await Promise.all(tables.map((table) => rowsRead(tx, table)));
      expect(new Set(await placeGroup(test, tx, partner, "later", known))).toEqual(new Set(["created"]));
      const after = await Promise.all(tables.map((table) => rowsRead(tx, table)));
      // One row of each for the one product of the group. The others are those that the lines and orders reference.
      const read = after.map((rows, index) => rows - (before[index] ?? 0));
      expect(read).toEqual([GROUP + 1, 1, GROUP + 1]);
    });
  },
);
