import { beforeEach, describe, expect, it } from "vitest";
import { betweenTransactions } from "../support/between-transactions.ts";
import { createExposedProduct, createPartner, type Partner } from "../support/builders.ts";
import { acceptAll, routeAll, setStock } from "../support/facilities.ts";
import { openWaitingRoom, type WaitingRoom } from "../support/waiting.ts";

// See docs/design/fulfilment.md, "Waiting orders".

const PAGE_SIZE = 100;

let room: WaitingRoom;
beforeEach(async () => {
  room = await openWaitingRoom();
});

/** An accepted order of a product that is made to order. */
async function placeNew(partner: Partner): Promise<string> {
  const id = await room.place(partner, 1, { lines: [{ productId: partner.productIds[1], quantity: 1 }] });
  await acceptAll(room.test);
  return id;
}

/** Routes all orders; returns how many of the waiting ones were routed when the new one was, and how many in the end. */
async function routedBefore(
  newOrder: string,
  waiting: readonly string[],
  beforeTransaction: (number: number) => Promise<void> = async () => undefined,
): Promise<{ before: number; all: number }> {
  const countRouted = async () => (await room.isRouted(...waiting)).filter(Boolean).length;
  let before: number | null = null;
  const context = betweenTransactions(room.test.context, async (number) => {
    if (before === null && (await room.isRouted(newOrder))[0]) before = await countRouted();
    await beforeTransaction(number);
  });
  await routeAll({ context });
  const all = await countRouted();
  return { before: before ?? all, all };
}

describe("orders that wait", () => {
  it("delay the new orders of another merchant by one page", async () => {
    const waiting = await room.placeWaiting(...Array.from({ length: 2 * PAGE_SIZE + 1 }, () => 1));
    const newOrder = await placeNew(await createPartner(room.test));
    await setStock(room.test, room.facility, room.product, waiting.length);
    expect(await routedBefore(newOrder, waiting)).toEqual({ before: PAGE_SIZE, all: waiting.length });
  });

  it("are routed before the new orders of their own merchant", async () => {
    const waiting = await room.placeWaiting(...Array.from({ length: PAGE_SIZE + 1 }, () => 1));
    const newOrder = await placeNew(room.partner);
    await setStock(room.test, room.facility, room.product, waiting.length);
    expect(await routedBefore(newOrder, waiting)).toEqual({ before: waiting.length, all: waiting.length });
  });

  it("do not hold back the new orders of their own merchant, however often goods arrive", async () => {
    const { test, facility, partner, product, place } = room;
    const second = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await setStock(test, facility, second, 0);
    const lines = [{ productId: second, quantity: 1 }];
    const ofSecond = [await place(partner, 1, { lines }), await place(partner, 1, { lines })];
    const waiting = [...ofSecond, ...(await room.placeWaiting(1, 1, 1))];
    const newOrder = await placeNew(partner);
    await setStock(test, facility, product, 1);
    // While one of the two products is routed, a unit of the other arrives.
    const { before, all } = await routedBefore(newOrder, waiting, async (number) => {
      if (number <= 8)
        await setStock(test, facility, number % 4 < 2 ? product : second, Math.ceil(number / 2));
    });
    expect(all).toBe(waiting.length);
    expect(before).toBeLessThan(all);
  });
});
