import { describe, expect, it } from "vitest";
import { anAddress, countRows, createPartner, placeOrder } from "../support/builders.ts";
import {
  acceptAll,
  aRate,
  createFacility,
  createSibling,
  expectStockAddsUp,
  readOperations,
  readRoute,
  readStock,
  routeAll,
  setRates,
  setStock,
} from "../support/facilities.ts";
import { readOrder, readOrderEvents, transitionOrder } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { openWaitingRoom } from "../support/waiting.ts";
import { createEndpoint } from "../support/webhooks.ts";

describe("orders that wait for stock", () => {
  it("are released automatically when it arrives, the oldest first, until it is used up", async () => {
    const { test, partner, product, facility, placeWaiting, isRouted, holdsOf } = await openWaitingRoom();
    const ids = await placeWaiting(2, 1, 1, 1);
    await setStock(test, facility, product, 4);
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual([true, true, true, false]);
    expect(await readStock(test, facility, product)).toEqual({ onHand: 4, reserved: 4 });
    const events = await readOrderEvents(test, partner, ids[0]);
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      "order.created",
      "order.onHold",
      "order.onHoldReleased",
    ]);
    expect(await readOperations(test, ids[0] ?? "")).toEqual(["accept", "addHold", "releaseHold", "route"]);
    expect(await holdsOf(ids[3] ?? "")).toEqual(["out_of_stock"]);
    await expectStockAddsUp(test);
  });

  it("publish an event each to each endpoint, though they are held and released together", async () => {
    const { test, partner, product, facility, placeWaiting } = await openWaitingRoom();
    await createEndpoint(partner);
    await createEndpoint(partner, { eventTypes: ["order.onHold"] });
    const ids = await placeWaiting(1, 1, 1);
    expect(await countRows(test, "deliveries")).toBe(3 * 3); // Created to one, on hold to both.
    await setStock(test, facility, product, 3);
    await routeAll(test);
    expect(await countRows(test, "deliveries")).toBe(3 * 4);
    for (const id of ids) {
      const events = await readOrderEvents(test, partner, id);
      expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3]);
      expect(events[1].data.order).toMatchObject({ id, onHoldReasons: ["out_of_stock"] });
      expect(events[2].data.order).toMatchObject({ id, onHold: false });
    }
  });

  it("that want more than there is do not keep the younger ones waiting", async () => {
    const { test, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const ids = await placeWaiting(5, 1);
    await setStock(test, facility, product, 4);
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual([false, true]);
  });

  it("are served oldest first over all connections", async () => {
    const { test, partner, product, facility, place, isRouted } = await openWaitingRoom();
    await setStock(test, facility, product, 0);
    const second = await createSibling(test, partner);
    const ids: string[] = [];
    for (const by of [partner, second, second, partner, second]) ids.push(await place(by));
    await acceptAll(test);
    await routeAll(test);
    await setStock(test, facility, product, 3);
    await routeAll(test);
    expect(await isRouted(...ids)).toEqual([true, true, true, false, false]);
  });

  it("come before those that were accepted later", async () => {
    const { test, partner, product, facility, place, placeWaiting, isRouted } = await openWaitingRoom();
    const [waiting = ""] = await placeWaiting(1);
    const late = await place(partner);
    await acceptAll(test);
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await isRouted(waiting, late)).toEqual([true, false]);
  });

  it("are read page by page, hundreds of them", async () => {
    const { test, partner, product, facility, place, isRouted } = await openWaitingRoom();
    await setStock(test, facility, product, 0);
    const ids = await Promise.all(Array.from({ length: 230 }, () => place(partner)));
    await acceptAll(test);
    await routeAll(test);
    await setStock(test, facility, product, 225);
    await routeAll(test);
    expect((await isRouted(...ids)).filter((routed) => routed)).toHaveLength(225);
    await expectStockAddsUp(test);
  });

  it("get what a canceled order gives back", async () => {
    const { test, partner, product, facility, place, isRouted, holdsOf } = await openWaitingRoom();
    await setStock(test, facility, product, 1);
    const first = await place(partner);
    await acceptAll(test);
    await routeAll(test);
    const second = await place(partner);
    await acceptAll(test);
    await routeAll(test);
    expect(await holdsOf(second)).toEqual(["out_of_stock"]);
    await transitionOrder(test, partner, first, { name: "cancel" });
    await routeAll(test);
    expect(await isRouted(second)).toEqual([true]);
    await expectStockAddsUp(test);
  });

  it("stay when the number only falls, or stays, or is of another product", async () => {
    const { test, partner, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const [id = ""] = await placeWaiting(1);
    await routeAll(test);
    await setStock(test, facility, partner.productIds[1], 5);
    await setStock(test, facility, partner.productIds[1], 4);
    await setStock(test, facility, product, 0);
    await routeAll(test);
    expect(await isRouted(id)).toEqual([false]);
    expect(await readOperations(test, id)).toEqual(["accept", "addHold"]); // And no event is published twice.
  });

  it("and are canceled in the meantime get nothing", async () => {
    const { test, partner, product, facility, placeWaiting, isRouted } = await openWaitingRoom();
    const [first = "", second = ""] = await placeWaiting(1, 1);
    await transitionOrder(test, partner, first, { name: "cancel" });
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await isRouted(first, second)).toEqual([false, true]);
    await expectStockAddsUp(test);
  });

  it("are routed again when a person releases the hold, and wait again if there is still no stock", async () => {
    const { test, partner, placeWaiting, holdsOf } = await openWaitingRoom();
    const [id = ""] = await placeWaiting(1);
    await transitionOrder(test, partner, id, { name: "releaseHold" });
    expect(await routeAll(test)).toBe(1);
    expect(await holdsOf(id)).toEqual(["out_of_stock"]);
    await transitionOrder(test, partner, id, { name: "hold", reasons: ["merchant_request"] }); // Replaces the reason.
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["out_of_stock", "merchant_request"]);
  });

  it("give up their place while their payment has failed, and are routed once paid", async () => {
    const { test, partner, product, facility, placeWaiting, isRouted, holdsOf } = await openWaitingRoom();
    const [unpaid = "", paid = ""] = await placeWaiting(1, 1);
    await transitionOrder(test, partner, unpaid, { name: "addHold", reasons: ["payment_failed"] });
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await isRouted(unpaid, paid)).toEqual([false, true]);
    expect(await holdsOf(unpaid)).toEqual(["payment_failed"]);
    await setStock(test, facility, product, 2);
    await routeAll(test);
    expect(await isRouted(unpaid)).toEqual([false]);
    await transitionOrder(test, partner, unpaid, { name: "releaseHold", reasons: ["payment_failed"] });
    await routeAll(test);
    expect(await isRouted(unpaid)).toEqual([true]);
  });
});

describe("orders that wait for a rate", () => {
  const sentTo = (countryCode: string) => ({ shippingAddress: anAddress({ countryCode }) });

  it("are released automatically when one arrives, and only those that it serves", async () => {
    const { test, partner, facility, place, isRouted, holdsOf } = await openWaitingRoom();
    const [french, german] = [await place(partner, 1, sentTo("FR")), await place(partner, 1, sentTo("DE"))];
    await acceptAll(test);
    await routeAll(test);
    expect([await holdsOf(french), await holdsOf(german)]).toEqual([
      ["address_unserviceable"],
      ["address_unserviceable"],
    ]);
    await setRates(test, facility, [aRate(), aRate({ country: "fr" })]);
    await routeAll(test);
    expect(await isRouted(french, german)).toEqual([true, false]);
    expect(await holdsOf(french)).toEqual([]);
  });

  it("may then find that there is no stock: the reason changes, and no release is published", async () => {
    const { test, partner, product, facility, place, isRouted, holdsOf } = await openWaitingRoom();
    await setStock(test, facility, product, 0);
    const id = await place(partner, 1, sentTo("FR"));
    await acceptAll(test);
    await routeAll(test);
    await setRates(test, facility, [aRate({ country: "FR" })]);
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["out_of_stock"]);
    const types = (await readOrderEvents(test, partner, id)).map(({ type }: { type: string }) => type);
    expect(types).not.toContain("order.onHoldReleased");
    await setStock(test, facility, product, 1);
    await routeAll(test);
    expect(await isRouted(id)).toEqual([true]);
  });

  it("so do those out of stock, when the facility that has it ships to them at last", async () => {
    const { test, product, placeWaiting, holdsOf } = await openWaitingRoom();
    const [id = ""] = await placeWaiting(1);
    const second = await createFacility(test, { rates: [] });
    await setStock(test, second, product, 1);
    await routeAll(test);
    expect(await holdsOf(id)).toEqual(["out_of_stock"]);
    await setRates(test, second, [aRate()]);
    await routeAll(test);
    expect(await readRoute(test, id)).toMatchObject({ facilityId: second });
  });

  it("were accepted when a facility without rates was opened first", async () => {
    const fresh = await startServiceForTest();
    const by = await createPartner(fresh);
    const opened = await createFacility(fresh, { rates: [] });
    const { id } = await placeOrder(by);
    await acceptAll(fresh);
    await routeAll(fresh);
    expect((await readOrder(by, id)).onHoldReasons).toEqual(["address_unserviceable"]);
    await setRates(fresh, opened, [aRate()]);
    await routeAll(fresh);
    expect(await readRoute(fresh, id)).toMatchObject({ facilityId: opened });
  });
});
