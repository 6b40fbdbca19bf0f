import { beforeAll, describe, expect, it } from "vitest";
import type { OrderFilter } from "../../src/orders/reading/list-conditions-sql.ts";
import { readListedOrders } from "../../src/orders/reading/list-orders.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { UUID_MAX, UUID_MIN } from "../../src/platform/wire/cursor.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { createFacility, createSibling } from "../support/facilities.ts";
import { copyOrder } from "../support/many-orders.ts";
import { ALL_ORDERS } from "../support/order-filters.ts";
import { connectionUuid } from "../support/orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { countRowsRead, LOOK_AHEAD } from "../support/rows-read.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

// See docs/design/api-conventions.md, "Searching orders" and "Lists and cursors".

let test: TestService;
let large: Partner;
/** Connections with an order each: of the merchant that has most orders, and of another one. */
let small: string[];
beforeAll(async () => {
  test = await startTestService();
  large = await createPartner(test);
  const ofOther = await createPartner(test);
  await placeOrder(large);
  await placeOrder(ofOther);
  await copyOrder(test, large, 4_000);
  const sibling = await createSibling(test, large);
  await placeOrder(sibling);
  small = [sibling.connectionId, ofOther.connectionId];
  await test.db.runScript("update orders set status = 'COMPLETED'; analyze orders, order_requests");
  return () => test.close();
});

describe("a list of the orders of a connection", () => {
  it.each([
    ["newest", UUID_MAX, "COMPLETED"],
    ["oldest", UUID_MIN, "COMPLETED"],
    ["newest", UUID_MAX, null],
    ["oldest", UUID_MIN, null],
  ] as const)("reads none of others, with the %s first", async (sort, afterId, status) => {
    for (const connectionId of small) {
      const filter: OrderFilter = {
        ...ALL_ORDERS,
        connectionId: connectionUuid({ connectionId }),
        status,
        sort,
      };
      const position = { list: "orders", afterId, limit: 20 };
      const rowsRead = await countRowsRead(test.db, (db) =>
        readListedOrders(db, filter, position, test.clock.now()),
      );
      for (const table of ["orders", "order_requests"])
        expect(rowsRead(table), table).toBeLessThanOrEqual(1 + LOOK_AHEAD);
    }
  });
});

it("the orders of a facility with a status are read once, however many merchants there are", async () => {
  for (let count = 0; count < 6; count += 1) {
    const partner = await createPartner(test);
    await placeOrder(partner);
    await copyOrder(test, partner, 500);
  }
  const facilityId = fromTypeId("fac", await createFacility(test));
  await test.db.runScript(`
    update orders
    set status = case when id::text < '06' then 'ACCEPTED' else 'COMPLETED' end, facility_id = '${facilityId}', routed_at = created_at;
    analyze orders, order_requests`);
  const [accepted] = await test.db.query<{ count: number }>({
    name: "test-count-accepted",
    text: "select count(*)::integer as count from orders where status = 'ACCEPTED'",
    values: [],
  });
  const filter: OrderFilter = { ...ALL_ORDERS, status: "ACCEPTED", facilityId };
  const position = { list: "orders", afterId: UUID_MAX, limit: 20 };
  const rowsRead = await countRowsRead(test.db, (db) =>
    readListedOrders(db, filter, position, test.clock.now()),
  );
  // PostgreSQL counts the mean of each connection, rounded. On Citus it does so for each shard.
  expect(rowsRead("orders")).toBeLessThan((accepted?.count ?? 0) * 1.5);
});

itOnPlainPostgres("Plans of Citus name its tasks.")(
  "a search reads the orders of a beginning by their index, and not the table, if most orders begin so",
  async () => {
    const plans: string[] = [];
    await test.db.transaction(async (tx) => {
      const explained: Database = {
        ...test.db,
        transaction: (work) => work(explained),
        async query({ name, text, values }) {
          if (text.startsWith("set local")) return tx.query({ name, text, values });
          const rows = await tx.query<{ "QUERY PLAN": string }>({
            name: "",
            text: `explain ${text}`,
            values,
          });
          plans.push(...rows.map((row) => row["QUERY PLAN"]));
          return [];
        },
      };
      const position = { list: "orders", afterId: UUID_MAX, limit: 20 };
      await readListedOrders(explained, { ...ALL_ORDERS, text: "copy" }, position, test.clock.now());
    });
    expect(plans.join("\n")).toMatch(/Index Scan using order_requests_external_order_id_key/);
    expect(plans.join("\n")).not.toMatch(/(Seq|Bitmap Heap) Scan on orders/);
  },
);
