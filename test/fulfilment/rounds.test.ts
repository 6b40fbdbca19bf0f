import { beforeEach, describe, expect, it } from "vitest";
import { listSupplyChanges } from "../../src/fulfilment/routing/waiting-orders.ts";
import { betweenTransactions } from "../support/between-transactions.ts";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { placeOrder } from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import { acceptAll, createSibling, routeAll, setStock } from "../support/facilities.ts";
import { openWaitingRoom, type WaitingRoom } from "../support/waiting.ts";

// docs/design/fulfilment.md, "Waiting orders": goods go to those who have waited, also when they arrive in the middle of a
// round.

let room: WaitingRoom;
let test: WaitingRoom["test"];
beforeEach(async () => {
  room = await openWaitingRoom();
  ({ test } = room);
});

/** Places orders of a product that is made to order: work for the given number of batches of a hundred. */
async function placeBacklog(batches: number): Promise<void> {
  const lines = [{ productId: room.partner.productIds[1], quantity: 1 }];
  const orders = Array.from({ length: batches * 100 }, () => placeOrder(room.partner, { lines }));
  await Promise.all(orders);
}

/** Routes, and so many units of the product lie there from the given transaction of the round on. */
const routeAsGoodsArrive = (units: number, inTransaction: number) =>
  routeAll({
    context: betweenTransactions(test.context, async (number) => {
      if (number === inTransaction) await setStock(test, room.facility, room.product, units);
    }),
  });

describe("goods that arrive during a run", () => {
  it("go to orders that have waited, not to a younger order at the end of a backlog", async () => {
    const [waiting = ""] = await room.placeWaiting(1);
    await placeBacklog(2);
    const late = await room.place(room.partner);
    await acceptAll(test);
    await routeAsGoodsArrive(1, 1);
    expect(await room.isRouted(waiting, late)).toEqual([true, false]);
  });

  it("go to them also if another waiting order cannot be stored", async () => {
    const [rejected = "", waiting = ""] = await room.placeWaiting(1, 2);
    await blockOrderChanges(test, rejected);
    await placeBacklog(2);
    const late = await room.place(room.partner);
    await acceptAll(test);
    await setStock(test, room.facility, room.product, 1);
    const firstBatch = 1 + 2; // The order that cannot be stored has been tried twice by then.
    await expect(routeAsGoodsArrive(2, firstBatch)).rejects.toThrow();
    expect(await room.isRouted(rejected, waiting, late)).toEqual([false, true, false]);
  });
});

describe("a round", () => {
  it("reads the orders that wait for the same supply change once, however often one of them fails", async () => {
    const [rejected = ""] = await room.placeWaiting(1);
    await blockOrderChanges(test, rejected);
    await setStock(test, room.facility, room.product, 2);
    await placeBacklog(2);
    await acceptAll(test);
    const { context, names } = countStatements(test.context);
    await expect(routeAll({ context })).rejects.toThrow();
    expect(names.filter((name) => name.startsWith("list-orders-waiting"))).toHaveLength(1);
    expect(await listSupplyChanges(test.db)).toHaveLength(1);
  });

  it("continues with a connection's new orders after one that fails, and with other connections'", async () => {
    const sibling = await createSibling(test, room.partner);
    const rejected = await room.place(room.partner);
    await placeBacklog(1);
    const ids = [await room.place(room.partner), await room.place(sibling)];
    await acceptAll(test);
    await blockOrderChanges(test, rejected);
    await expect(routeAll(test)).rejects.toMatchObject({
      errors: [{ message: `Order ${rejected} could not be routed.` }],
    });
    expect(await room.isRouted(rejected, ...ids)).toEqual([false, true, true]);
  });
});
