import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { applied, eventsOf, expectRejected, typesOf } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

/** A test order of three lines, two of them of the same product. */
async function threeLines(): Promise<{ id: string; lines: [string, string, string] }> {
  const [first, second] = partner.productIds;
  const lines = [first, second, first].map((productId, index) => ({ productId, quantity: index + 1 }));
  const { id } = await placeTestOrder(partner, { lines });
  const order = await readOrder(partner, id);
  return { id, lines: order.lines.map((line: { id: string }) => line.id) };
}

const shipmentIdsOf = (order: { lines: { shipmentId: string | null }[] }) =>
  order.lines.map(({ shipmentId }) => shipmentId);

describe("ship", () => {
  it("creates a shipment over all lines, without tracking, and moves the order to IN_PROGRESS", async () => {
    const { id, lines } = await threeLines();
    const before = await readOrder(partner, id);
    const order = await applied(partner, id, "ship");
    const shipmentId = order.shipments[0].id;
    expect(shipmentId).toMatch(/^shp_[0-9a-z]{26}$/);
    expect(order).toEqual({
      ...before,
      sequence: 2,
      status: "IN_PROGRESS",
      cancelableUntil: null,
      lines: before.lines.map((line: object) => ({ ...line, shipmentId })),
      shipments: [
        {
          id: shipmentId,
          status: "pending",
          carrier: null,
          trackingNumber: null,
          trackingUrl: null,
          createdAt: test.clock.now().toISOString(),
          shippedAt: null,
          deliveredAt: null,
          lineIds: lines,
        },
      ],
    });
  });

  it("stops splitting at 200 lines, as the warehouse does", async () => {
    const lines = Array.from({ length: 100 }, () => ({ productId: partner.productIds[0], quantity: 3 }));
    const { id } = await placeTestOrder(partner, { lines });
    const { lines: whole } = await readOrder(partner, id);
    const one = ({ id: lineId }: { id: string }) => ({ lineId, quantity: 1 });
    const split = await applied(partner, id, "ship", { lines: whole.map(one) });
    expect(split.lines).toHaveLength(200);
    const unshipped = split.lines.find(
      ({ shipmentId }: { shipmentId: string | null }) => shipmentId === null,
    );
    const expected = { orderStatus: "IN_PROGRESS", rule: "too_many_lines", maximum: 200 };
    await expectRejected(test, partner, id, "ship", expected, { lines: [one(unshipped)] });
  });

  it("with tracking creates a shipment that is shipped, as the warehouse does", async () => {
    const { id } = await threeLines();
    const tracking = { carrier: "U.P.S.", trackingNumber: "1Z 999" };
    const { shipments } = await applied(partner, id, "ship", tracking);
    const trackingUrl = "https://www.ups.com/track?tracknum=1Z999";
    const shippedAt = test.clock.now().toISOString();
    expect(shipments).toMatchObject([{ ...tracking, trackingUrl, status: "shipped", shippedAt }]);
    const event = (await eventsOf(test, id)).at(-1);
    expect(event?.data.shipment).toEqual(shipments[0]);
  });

  it("takes an address of the partner's own, and a carrier alone is no tracking", async () => {
    const { id, lines } = await threeLines();
    const own = { carrier: "UPS", trackingNumber: "1", trackingUrl: "http://bikes.example/1" };
    const named = await applied(partner, id, "ship", { ...own, lineIds: [lines[0]] });
    expect(named.shipments).toMatchObject([{ ...own, status: "shipped" }]);
    const { shipments } = await applied(partner, id, "ship", { carrier: "UPS" });
    expect(shipments[1]).toMatchObject({ carrier: "UPS", trackingUrl: null, status: "pending" });
  });

  it("ships only the named lines; the others stay unshipped", async () => {
    const { id, lines } = await threeLines();
    const order = await applied(partner, id, "ship", { lineIds: [lines[1]] });
    const [shipment] = order.shipments;
    expect(order).toMatchObject({ status: "IN_PROGRESS" });
    expect(shipmentIdsOf(order)).toEqual([null, shipment.id, null]);
    expect(shipment.lineIds).toEqual([lines[1]]);
  });

  it("counts a duplicate line once, and accepts the lines in any order", async () => {
    const { id, lines } = await threeLines();
    const order = await applied(partner, id, "ship", { lineIds: [lines[2], lines[0], lines[2]] });
    expect(order.shipments).toHaveLength(1);
    expect(order.shipments[0].lineIds).toEqual([lines[0], lines[2]]);
  });

  it("without lineIds ships what is still unshipped, in a shipment of its own", async () => {
    const { id, lines } = await threeLines();
    await applied(partner, id, "ship", { lineIds: [lines[1]] });
    const order = await applied(partner, id, "ship");
    expect(order.shipments.map((shipment: { lineIds: string[] }) => shipment.lineIds)).toEqual([
      [lines[1]],
      [lines[0], lines[2]],
    ]);
    expect(order.shipments[0].id).not.toBe(order.shipments[1].id);
  });

  it("shows shipments oldest first, each with its creation time", async () => {
    const { id, lines } = await threeLines();
    const times: string[] = [];
    for (const line of [lines[2], lines[0], lines[1]]) {
      test.clock.advance({ seconds: 1 });
      times.push(test.clock.now().toISOString());
      await applied(partner, id, "ship", { lineIds: [line] });
    }
    const { shipments } = await readOrder(partner, id);
    expect(shipments.map(({ createdAt }: { createdAt: string }) => createdAt)).toEqual(times);
  });

  describe("is rejected with nothing_to_ship", () => {
    it("when every line has a shipment", async () => {
      const { id } = await threeLines();
      await applied(partner, id, "ship");
      const expected = { orderStatus: "IN_PROGRESS", rule: "nothing_to_ship" };
      await expectRejected(test, partner, id, "ship", expected);
    });

    it("when no line is named", async () => {
      const { id } = await threeLines();
      const expected = { orderStatus: "NEW", rule: "nothing_to_ship" };
      await expectRejected(test, partner, id, "ship", expected, { lineIds: [] });
    });

    it("completely, when one of the named lines has a shipment", async () => {
      const { id, lines } = await threeLines();
      await applied(partner, id, "ship", { lineIds: [lines[0]] });
      const expected = { orderStatus: "IN_PROGRESS", rule: "nothing_to_ship" };
      await expectRejected(test, partner, id, "ship", expected, { lineIds: [lines[0], lines[1]] });
      expect(shipmentIdsOf(await readOrder(partner, id)).slice(1)).toEqual([null, null]);
    });

    it("also in the status the order was set back to", async () => {
      const { id } = await threeLines();
      for (const name of ["ship", "accept"]) await applied(partner, id, name);
      const expected = { orderStatus: "ACCEPTED", rule: "nothing_to_ship" };
      await expectRejected(test, partner, id, "ship", expected);
    });
  });
});

describe("returnShipment", () => {
  /** Three lines in three shipments. */
  async function threeParcels(): Promise<{ id: string; parcels: [string, string, string] }> {
    const { id, lines } = await threeLines();
    for (const line of lines) await applied(partner, id, "ship", { lineIds: [line] });
    const { shipments } = await readOrder(partner, id);
    return { id, parcels: shipments.map((shipment: { id: string }) => shipment.id) };
  }
  const statusesOf = (order: { shipments: { status: string }[] }) =>
    order.shipments.map(({ status }) => status);

  it("returns the most recent shipment that is still out by default, one after the other", async () => {
    const { id } = await threeParcels();
    const seen: string[][] = [];
    for (let parcel = 0; parcel < 3; parcel += 1)
      seen.push(statusesOf(await applied(partner, id, "returnShipment")));
    expect(seen).toEqual([
      ["pending", "pending", "returned"],
      ["pending", "returned", "returned"],
      ["returned", "returned", "returned"],
    ]);
  });

  it("returns the named shipment, makes the order RETURNED, and keeps the lines in their shipments", async () => {
    const { id, parcels } = await threeParcels();
    const before = await readOrder(partner, id);
    const order = await applied(partner, id, "returnShipment", { shipmentId: parcels[1] });
    expect(statusesOf(order)).toEqual(["pending", "returned", "pending"]);
    expect(order.status).toBe("RETURNED");
    const [first, second, third] = before.lines;
    expect(order.lines).toEqual([first, { ...second, returnedQuantity: second.quantity }, third]);
  });

  it.each([
    ["COMPLETED", ["complete"]],
    ["CANCELED", ["cancel"]],
    ["RETURNED", ["returnShipment"]],
  ])("is allowed on a settled order: %s becomes RETURNED", async (_status, transitions) => {
    const { id } = await threeParcels();
    for (const name of transitions) await applied(partner, id, name);
    expect(await applied(partner, id, "returnShipment")).toMatchObject({ status: "RETURNED" });
  });

  it("leaves lines that never shipped unshipped", async () => {
    const { id, lines } = await threeLines();
    await applied(partner, id, "ship", { lineIds: [lines[0]] });
    const order = await applied(partner, id, "returnShipment");
    expect(shipmentIdsOf(order)).toEqual([order.shipments[0].id, null, null]);
    const expected = { orderStatus: "RETURNED", rule: "order_settled" };
    await expectRejected(test, partner, id, "ship", expected);
  });

  describe("is rejected with no_shipment_out", () => {
    it.each([
      ["NEW", []],
      ["PROCESSING", ["process"]],
      ["ACCEPTED", ["accept"]],
      ["CANCELED", ["cancel"]],
    ])("when nothing was shipped: %s", async (orderStatus, transitions) => {
      const { id } = await threeLines();
      for (const name of transitions) await applied(partner, id, name);
      const expected = { orderStatus, rule: "no_shipment_out" };
      await expectRejected(test, partner, id, "returnShipment", expected);
    });

    it("when everything has come back", async () => {
      const { id } = await threeLines();
      for (const name of ["ship", "returnShipment"]) await applied(partner, id, name);
      const expected = { orderStatus: "RETURNED", rule: "no_shipment_out" };
      await expectRejected(test, partner, id, "returnShipment", expected);
    });

    it("when the named shipment has come back, although others are out", async () => {
      const { id, parcels } = await threeParcels();
      const fields = { shipmentId: parcels[0] };
      await applied(partner, id, "returnShipment", fields);
      const expected = { orderStatus: "RETURNED", rule: "no_shipment_out" };
      await expectRejected(test, partner, id, "returnShipment", expected, fields);
    });
  });
});

describe("complete", () => {
  it("makes a shipped order COMPLETED and publishes order.completed", async () => {
    const { id } = await threeLines();
    const shipped = await applied(partner, id, "ship");
    const shippedAt = test.clock.now().toISOString();
    const shipments = [{ ...shipped.shipments[0], status: "shipped", shippedAt }];
    expect(await applied(partner, id, "complete")).toEqual({
      ...shipped,
      sequence: 3,
      status: "COMPLETED",
      shipments,
    });
    const types = ["order.created", "order.shipmentCreated", "order.completed"];
    expect(typesOf(await eventsOf(test, id))).toEqual(types);
  });

  it("completes an order over several shipments", async () => {
    const { id, lines } = await threeLines();
    for (const line of lines) await applied(partner, id, "ship", { lineIds: [line] });
    expect(await applied(partner, id, "complete")).toMatchObject({ status: "COMPLETED" });
  });

  describe("rule 2: an order with an unshipped line does not complete", () => {
    it.each([
      ["NEW", []],
      ["PROCESSING", ["process"]],
      ["ACCEPTED", ["accept"]],
      ["ACCEPTED", ["accept", "hold"]],
    ])("%s after %j: rejected with unshipped_lines", async (orderStatus, transitions) => {
      const { id } = await threeLines();
      for (const name of transitions) await applied(partner, id, name);
      await expectRejected(test, partner, id, "complete", { orderStatus, rule: "unshipped_lines" });
    });

    it("also when a single line is left", async () => {
      const { id, lines } = await threeLines();
      await applied(partner, id, "ship", { lineIds: lines.slice(1) });
      const expected = { orderStatus: "IN_PROGRESS", rule: "unshipped_lines" };
      await expectRejected(test, partner, id, "complete", expected);
    });
  });
});
