import { expect, it } from "vitest";
import { saveOrders } from "../../src/orders/changes/save-orders-sql.ts";
import { parseOrderRef } from "../../src/orders/order-wire.ts";
import { lockOrder, readOrdersByExternalId } from "../../src/orders/orders-sql.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { connectionKey } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("an order that is placed between the lock and the read is not processed without its lock", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const found = await test.db.transaction(async (tx) => {
    const late: Queryable = {
      isDistributed: tx.isDistributed,
      async query(statement) {
        const rows = await tx.query<never>(statement);
        if (statement.name === "lock-order") await placeOrder(partner, { externalOrderId: "late" });
        return rows;
      },
    };
    return lockOrder(late, connectionKey(partner), parseOrderRef("late"), test.clock);
  });
  expect(found).toBeUndefined();
});

it("a change is rejected if the order has changed since it was read", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  await placeOrder(partner, { externalOrderId: "moved" });
  const [read] = await readOrdersByExternalId(test.db, connectionKey(partner), ["moved"]);
  if (read === undefined) throw new Error("The order was just placed.");
  await partner.client.post("/v1/orders/moved/cancel");
  const change = { before: read, after: { ...read, status: "ACCEPTED" as const } };
  await expect(saveOrders(test.db, [change], test.clock.now())).rejects.toThrow("lock");
});
