import { expect } from "vitest";
import { placementOf } from "../../src/orders/creation/create-order.ts";
import { placeOrders } from "../../src/orders/creation/place-orders.ts";
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
  return (await placeOrders(context, placements)).map(({ outcome }) => outcome);
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
