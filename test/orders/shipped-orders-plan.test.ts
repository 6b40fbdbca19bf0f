import { expect } from "vitest";
import {
  listConnectionsWithShippedOrders,
  lockShippedOrders,
} from "../../src/orders/deadlines/complete-shipped-orders.ts";
import { readListedOrders } from "../../src/orders/reading/list-orders.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { UUID_MAX } from "../../src/platform/wire/cursor.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { copyScript } from "../support/many-orders.ts";
import { ALL_ORDERS } from "../support/order-filters.ts";
import { connectionKey } from "../support/orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead } from "../support/rows-read.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

/** Copies the only order, with its lines, until there are 4 000; one in ten is in progress, none has shipped. */
const copyOrder = (test: TestService): Promise<void> =>
  test.db.runScript(`
${copyScript({
  of: "true",
  from: 2,
  to: 4000,
  change: "'status', case when n % 10 = 0 then 'IN_PROGRESS' else 'COMPLETED' end",
})}
    insert into order_lines
    select (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'order_id', o.id))).*
    from order_lines l, orders o
    where o.id <> l.order_id;
    update merchants set complete_when_shipped = true;
    analyze;`);

/** How PostgreSQL would run the statements of some work. */
async function explain({ db }: TestService, work: (db: Queryable) => Promise<unknown>): Promise<string> {
  const plan: string[] = [];
  await work({
    isDistributed: async () => false,
    async query({ name, text, values }) {
      const statement = { name: `explain-${name}`, text: `explain ${text}`, values };
      const rows = await db.query<{ "QUERY PLAN": string }>(statement);
      plan.push(...rows.map((row) => row["QUERY PLAN"]));
      return [];
    },
  });
  return plan.join("\n");
}

itOnPlainPostgres("Plans of Citus name its tasks.")(
  "orders to complete automatically are found without reading all orders and lines",
  async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await copyOrder(test);
    for (const work of [
      listConnectionsWithShippedOrders,
      (db: Queryable) =>
        lockShippedOrders(db, { connections: [connectionKey(partner)], share: 50, only: null, except: [] }),
    ]) {
      const plan = await explain(test, work);
      expect(plan).toMatch(/Scan (using \w+ )?on orders/);
      expect(plan).not.toMatch(/Seq Scan on (orders|order_lines)/);
    }
  },
);

const FIRST_PAGE = { list: "orders", afterId: UUID_MAX, limit: 20 };
itOnPlainPostgres("Plans of Citus name its tasks.")(
  "orders that are ready to ship are listed without reading those that have shipped and are never completed",
  async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await copyOrder(test);
    await test.db.runScript(`
    update orders set routed_at = created_at;
    update orders set has_unshipped = false where status = 'IN_PROGRESS' and id::text > '1';
    analyze orders`);
    for (const connectionId of [null, connectionKey(partner).connectionId]) {
      const rowsRead = await countRowsRead(test.db, (db) =>
        readListedOrders(db, { ...ALL_ORDERS, ready: true, connectionId }, FIRST_PAGE, test.clock.now()),
      );
      expect(rowsRead("orders")).toBeLessThan(60);
    }
  },
);
