import { beforeEach, describe, expect, it } from "vitest";
import { listSupplyChanges } from "../../src/fulfilment/routing/waiting-orders.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { untilBlocked } from "../support/blocked.ts";
import { blockOrderChanges } from "../support/blocked-orders.ts";
import { createPartner } from "../support/builders.ts";
import {
  acceptAll,
  createSibling,
  expectStockAddsUp,
  readOperations,
  routeAll,
  setStock,
} from "../support/facilities.ts";
import { openWaitingRoom, type WaitingRoom } from "../support/waiting.ts";
import { uuidIn } from "../support/webhooks.ts";

let room: WaitingRoom;
let test: WaitingRoom["test"];
beforeEach(async () => {
  room = await openWaitingRoom();
  ({ test } = room);
});

const uuidOf = (orderId: string): string => fromTypeId("ord", orderId) ?? "";

/** The round's failures, each with its cause, as the log shows them. */
const errorsOf = async (round: Promise<unknown>): Promise<string[]> => {
  const leaves = (error: unknown): string[] =>
    error instanceof AggregateError ? error.errors.flatMap(leaves) : [(error as Error).message];
  return round.then(() => [], leaves);
};

describe("an order that cannot be stored", () => {
  it("does not prevent the routing of others, and is reported by its id", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await room.place(room.partner));
    await acceptAll(test);
    const repair = await blockOrderChanges(test, ids[1] ?? "");
    expect(await errorsOf(routeAll(test))).toEqual([`Order ${ids[1]} could not be routed.`]);
    expect(await room.isRouted(...ids)).toEqual([true, false, true]);
    await repair();
    expect(await routeAll(test)).toBe(1);
    expect(await room.isRouted(...ids)).toEqual([true, true, true]);
    for (const id of ids) expect(await readOperations(test, id)).toEqual(["accept", "route"]);
  });

  it("does not prevent the routing of others, even if a whole batch fails", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 102; count += 1) ids.push(await room.place(room.partner));
    await acceptAll(test);
    await blockOrderChanges(test, ids[0] ?? "", ids[100]);
    await expect(routeAll(test)).rejects.toThrow();
    expect(await room.isRouted(...ids)).toEqual(ids.map((_, index) => index > 100));
  });

  it("does not prevent waiting orders of any connection from getting a supply, and gets its own later", async () => {
    const sibling = await createSibling(test, room.partner);
    await setStock(test, room.facility, room.product, 0);
    const ids: string[] = [];
    for (const by of [room.partner, room.partner, sibling, room.partner]) ids.push(await room.place(by));
    await acceptAll(test);
    await routeAll(test);
    const repair = await blockOrderChanges(test, ids[0] ?? "");
    await setStock(test, room.facility, room.product, 4);
    expect(await errorsOf(routeAll(test))).toEqual([`Order ${ids[0]} could not be routed.`]);
    expect(await room.isRouted(...ids)).toEqual([false, true, true, true]);
    expect(await listSupplyChanges(test.db)).toHaveLength(1);
    await repair();
    await routeAll(test);
    expect(await room.isRouted(...ids)).toEqual([true, true, true, true]);
    expect(await listSupplyChanges(test.db)).toEqual([]);
    await expectStockAddsUp(test);
  });
});

describe("a waiting order that cannot be stored", () => {
  it("does not make the waiting orders of another merchant be evaluated again", async () => {
    const other = await createPartner(test);
    const [otherProduct] = other.productIds;
    await setStock(test, room.facility, otherProduct, 0);
    const otherId = await room.place(other, 1, { lines: [{ productId: otherProduct, quantity: 1 }] });
    const [failing = ""] = await room.placeWaiting(1);
    await blockOrderChanges(test, failing);
    await setStock(test, room.facility, room.product, 1);
    await setStock(test, room.facility, otherProduct, 2);
    expect(await errorsOf(routeAll(test))).toEqual([`Order ${failing} could not be routed.`]);
    expect(await room.isRouted(otherId)).toEqual([true]);
    expect(await listSupplyChanges(test.db)).toMatchObject([{ productId: room.product }]);
  });
});

describe("a waiting order that another transaction keeps locked", () => {
  it("prevents neither other waiting orders nor new ones from being routed, and is evaluated again", async () => {
    const [busy = "", waiting = ""] = await room.placeWaiting(1, 1);
    const fresh = await room.place(room.partner);
    await acceptAll(test);
    await setStock(test, room.facility, room.product, 3);
    await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-block-order",
        text: "select from orders where merchant_id = $1 and id = $2 for update",
        values: [uuidIn("mer", room.partner.merchantId), uuidOf(busy)],
      });
      const round = errorsOf(routeAll(test));
      await untilBlocked(test, 1);
      expect(await round).toEqual([`Order ${busy} could not be routed.`]);
      expect(await room.isRouted(busy, waiting, fresh)).toEqual([false, true, true]);
    });
    await routeAll(test);
    expect(await room.isRouted(busy)).toEqual([true]);
    await expectStockAddsUp(test);
  });
});
