import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { applied, eventsOf, expectRejected, typesOf } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const placed = async (): Promise<string> => (await placeTestOrder(partner)).id;

describe("hold", () => {
  it("sets the hold for out_of_stock by default, and leaves the status unchanged", async () => {
    for (const transitions of [[], ["process"], ["accept"], ["ship"]]) {
      const id = await placed();
      for (const name of transitions) await applied(partner, id, name);
      const before = await readOrder(partner, id);
      const order = await applied(partner, id, "hold");
      expect(order).toEqual({
        ...before,
        sequence: before.sequence + 1,
        onHold: true,
        onHoldReasons: ["out_of_stock"],
      });
    }
  });

  it("sets the given reasons, of any text, in their order and each once", async () => {
    const reasons = ["merchant_request", "out_of_stock", "the moon is full", "out_of_stock"];
    const order = await applied(partner, await placed(), "hold", { reasons });
    expect(order.onHoldReasons).toEqual(["merchant_request", "out_of_stock", "the moon is full"]);
  });

  it("on an order that has a hold, replaces the reasons, and publishes order.onHold again", async () => {
    const id = await placed();
    await applied(partner, id, "hold", { reasons: ["address_unserviceable", "merchant_request"] });
    const order = await applied(partner, id, "hold");
    expect(order).toMatchObject({ onHold: true, onHoldReasons: ["out_of_stock"] });
    const events = await eventsOf(test, id);
    expect(typesOf(events)).toEqual(["order.created", "order.onHold", "order.onHold"]);
    expect(events[1].data.order.onHoldReasons).toEqual(["address_unserviceable", "merchant_request"]);
    expect(events[2].data.order).toEqual(order);
  });
});

describe("releaseHold", () => {
  it("clears the hold with all its reasons, leaves the status unchanged and publishes order.onHoldReleased", async () => {
    const id = await placed();
    const before = await applied(partner, id, "accept");
    await applied(partner, id, "hold", { reasons: ["out_of_stock", "merchant_request"] });
    const order = await applied(partner, id, "releaseHold");
    expect(order).toEqual({ ...before, sequence: 3, onHold: false, onHoldReasons: [] });
    const events = await eventsOf(test, id);
    expect(typesOf(events)).toEqual(["order.created", "order.onHold", "order.onHoldReleased"]);
    expect(events[2].data.order).toEqual(order);
  });

  it("without a hold returns 200, changes nothing and publishes nothing", async () => {
    const id = await placed();
    const before = await readOrder(partner, id);
    const tables = await dumpTables(test);
    test.clock.advance({ seconds: 1 });
    expect(await applied(partner, id, "releaseHold")).toEqual(before);
    expect(await dumpTables(test)).toEqual(tables);
  });

  it("a second time returns 200 and publishes nothing more", async () => {
    const id = await placed();
    for (const name of ["hold", "releaseHold", "releaseHold"]) await applied(partner, id, name);
    expect(await eventsOf(test, id)).toHaveLength(3);
  });
});

describe("rule 1: an order on hold does not ship", () => {
  it.each([
    ["NEW", []],
    ["PROCESSING", ["process"]],
    ["ACCEPTED", ["accept"]],
  ])("%s: rejected with order_on_hold", async (orderStatus, transitions) => {
    const id = await placed();
    for (const name of [...transitions, "hold"]) await applied(partner, id, name);
    await expectRejected(test, partner, id, "ship", { orderStatus, rule: "order_on_hold" });
  });

  it("for any reason, and also when its lines are named", async () => {
    const id = await placed();
    const { lines } = await applied(partner, id, "hold", { reasons: ["something new"] });
    const expected = { orderStatus: "NEW", rule: "order_on_hold" };
    await expectRejected(test, partner, id, "ship", expected, { lineIds: [lines[0].id] });
  });

  it("rejects an order on hold for its hold, even if all lines have shipped", async () => {
    const id = await placed();
    for (const name of ["ship", "hold"]) await applied(partner, id, name);
    const expected = { orderStatus: "IN_PROGRESS", rule: "order_on_hold" };
    await expectRejected(test, partner, id, "ship", expected);
  });

  it("ships again once the hold is cleared", async () => {
    const id = await placed();
    for (const name of ["hold", "releaseHold"]) await applied(partner, id, name);
    expect(await applied(partner, id, "ship")).toMatchObject({ status: "IN_PROGRESS" });
  });

  it("stops nothing else: an order on hold can be completed, which clears the hold", async () => {
    const id = await placed();
    for (const name of ["ship", "hold"]) await applied(partner, id, name);
    const order = await applied(partner, id, "complete");
    expect(order).toMatchObject({ status: "COMPLETED", onHold: false, onHoldReasons: [] });
    expect(typesOf(await eventsOf(test, id)).slice(2)).toEqual(["order.onHold", "order.completed"]);
  });

  it("a shipment of an order on hold can come back, which settles the order and clears the hold", async () => {
    const id = await placed();
    for (const name of ["ship", "hold"]) await applied(partner, id, name);
    const order = await applied(partner, id, "returnShipment");
    expect(order).toMatchObject({ status: "RETURNED", onHold: false, onHoldReasons: [] });
    expect(typesOf(await eventsOf(test, id)).slice(2)).toEqual(["order.onHold", "order.shipmentReturned"]);
  });
});
