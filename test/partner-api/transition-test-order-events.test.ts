import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { applied, eventsOf, transition, typesOf } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** Specification, part 3, "Test orders": the last transition of each is the one whose event is checked. */
const PUBLISHING: [string, string[]][] = [
  ["order.onHold", ["hold"]],
  ["order.onHoldReleased", ["hold", "releaseHold"]],
  ["order.shipmentCreated", ["ship"]],
  ["order.shipmentReturned", ["ship", "returnShipment"]],
  ["order.completed", ["ship", "complete"]],
  ["order.canceled", ["cancel"]],
];

describe("events of test orders", () => {
  it.each(PUBLISHING)(
    "%s is published by %j, with the order exactly as a read shows it",
    async (type, transitions) => {
      const { id } = await placeTestOrder(partner);
      for (const name of transitions) {
        test.clock.advance({ seconds: 1 });
        await applied(partner, id, name);
      }
      const events = await eventsOf(test, id);
      expect(events).toHaveLength(transitions.length + 1);
      const order = await readOrder(partner, id);
      const shipment = type.startsWith("order.shipment") ? { shipment: order.shipments[0] } : {};
      expect(events.at(-1)).toEqual({
        id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
        type,
        timestamp: test.clock.now().toISOString(),
        testMode: true,
        connectionId: partner.connectionId,
        sequence: transitions.length + 1,
        data: { order, ...shipment },
      });
    },
  );

  it.each(["process", "accept"])("%s publishes none, and uses no sequence number", async (name) => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, name);
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created"]);
    await applied(partner, id, "cancel");
    expect((await eventsOf(test, id)).map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  it("order.created comes first, with testMode true", async () => {
    const { id } = await placeTestOrder(partner);
    const [created] = await eventsOf(test, id);
    expect(created).toMatchObject({ type: "order.created", testMode: true, sequence: 1 });
    expect(created.data).toEqual({ order: await readOrder(partner, id) });
    const real = await placeOrder(partner);
    expect((await eventsOf(test, real.id))[0]).toMatchObject({ testMode: false, sequence: 1 });
  });

  it("order.shipmentCreated and order.shipmentReturned contain their own shipment", async () => {
    const lines = [...partner.productIds].map((productId) => ({ productId, quantity: 1 }));
    const { id } = await placeTestOrder(partner, { lines });
    const { lines: own } = await readOrder(partner, id);
    for (const line of own) await applied(partner, id, "ship", { lineIds: [line.id] });
    const { shipments } = await readOrder(partner, id);
    await applied(partner, id, "returnShipment", { shipmentId: shipments[0].id });
    const [, first, second, returned] = (await eventsOf(test, id)).map(({ data }) => data.shipment);
    expect(first).toEqual(shipments[0]);
    expect(second).toEqual(shipments[1]);
    expect(returned).toEqual({ ...shipments[0], status: "returned" });
    expect(first.lineIds).toEqual([own[0].id]);
    expect(first.trackingUrl).toBeNull();
  });

  it("count 1, 2, 3 … for each order separately", async () => {
    const [one, two] = [(await placeTestOrder(partner)).id, (await placeTestOrder(partner)).id];
    for (const name of ["hold", "releaseHold", "ship"])
      for (const id of [one, two]) await applied(partner, id, name);
    for (const id of [one, two]) {
      const events = await eventsOf(test, id);
      expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      expect(new Set(events.map((event) => event.id)).size).toBe(4);
    }
  });

  it("are not incremented by rejected transitions", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "hold");
    for (const name of ["ship", "complete", "returnShipment"])
      expect((await transition(partner, id, name)).status).toBe(409);
    await applied(partner, id, "releaseHold");
    expect((await eventsOf(test, id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it("keep their content: later transitions do not change them", async () => {
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "ship");
    const before = await eventsOf(test, id);
    for (const name of ["hold", "complete", "returnShipment"]) await applied(partner, id, name);
    expect((await eventsOf(test, id)).slice(0, 2)).toEqual(before);
    expect(before[1].data.order.status).toBe("IN_PROGRESS");
  });
});
