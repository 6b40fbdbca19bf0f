import { describe, expect, it } from "vitest";
import { applyTransition, isSameTracking } from "../../../src/lifecycle/lifecycle.ts";
import type { Shipment } from "../../../src/lifecycle/order.ts";
import type { Transition } from "../../../src/lifecycle/transition.ts";
import { at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

type ShipmentChange = Extract<Transition, { name: "updateShipment" }>["change"];

const TRACKING = { carrier: "DHL", trackingNumber: "JD01", trackingUrl: "https://track.example/JD01" };

describe("a new shipment", () => {
  it("has the tracking that it was given", () => {
    const order = shippedOrder("nothing shipped", { ...REAL, status: "ACCEPTED" });
    const ship = {
      name: "ship",
      lineIds: ["line-2"],
      newShipmentId: "parcel-new",
      tracking: TRACKING,
    } as const;
    const { order: shipped } = applyTransition(order, ship, NOW);
    expect(shipped.shipments).toEqual([{ id: "parcel-new", status: "pending", ...TRACKING, createdAt: NOW }]);
    expect(shipped.lines.map(({ shipmentId }) => shipmentId)).toEqual([null, "parcel-new"]);
  });

  it("comes after those that the order has", () => {
    const order = shippedOrder("one line shipped", { ...REAL, status: "IN_PROGRESS" });
    const ship = { name: "ship", lineIds: null, newShipmentId: "parcel-new" } as const;
    const { order: shipped } = applyTransition(order, ship, NOW);
    expect(shipped.shipments.map(({ id }) => id)).toEqual(["parcel-1", "parcel-new"]);
    expect(shipped.shipments[0]).toEqual(order.shipments[0]);
  });
});

describe("updateShipment", () => {
  const update = (order: ReturnType<typeof shippedOrder>, change: ShipmentChange, shipmentId = "parcel-1") =>
    applyTransition(order, { name: "updateShipment", shipmentId, change }, NOW);
  const sent = (fields: Partial<Shipment> = {}) => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const shipments = order.shipments.map((each) => ({ ...each, ...TRACKING, ...fields }));
    return { ...order, shipments };
  };

  it.each<[string, ShipmentChange]>([
    ["the carrier", { carrier: "UPS" }],
    ["the number", { trackingNumber: "JD02" }],
    ["the address", { trackingUrl: "https://track.example/JD02" }],
    ["the status", { status: "delivered" }],
    ["all of it", { carrier: null, trackingNumber: null, trackingUrl: null, status: "shipped" }],
  ])("changes %s of the named shipment, and nothing else", (_, change) => {
    const order = sent();
    const [first, second] = order.shipments;
    const expected = { ...order, shipments: [{ ...first, ...change }, second], updatedAt: NOW };
    expect(update(order, change)).toEqual({ outcome: "applied", from: order, order: expected, facts: [] });
  });

  it.each<[string, ShipmentChange]>([
    ["nothing is sent", {}],
    ["all is as it was", { ...TRACKING, status: "pending" }],
  ])("does nothing when %s", (_, change) => {
    const order = sent();
    expect(update(order, change)).toEqual({ outcome: "applied", from: order, order, facts: [] });
  });

  it("is rejected for a shipment that the order does not have, or that came back", () => {
    for (const [order, id] of [
      [sent(), "parcel-9"],
      [sent({ status: "returned" }), "parcel-1"],
    ] as const)
      expect(update(order, { carrier: "UPS" }, id)).toEqual({
        outcome: "rejected",
        order,
        rule: "no_shipment_out",
      });
  });

  it("leaves the time of a cancellation as it was", () => {
    const order = { ...sent(), status: "CANCELED", canceledAt: at(-20) } as const;
    expect(update(order, { carrier: "UPS" }).order.canceledAt).toEqual(at(-20));
  });
});

describe("returnShipment", () => {
  it("marks the one shipment as returned, and keeps its tracking and its lines", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "COMPLETED" });
    const outcome = applyTransition(order, { name: "returnShipment", shipmentId: "parcel-1" }, NOW);
    const [first, second] = order.shipments;
    const shipments = [{ ...first, status: "returned" }, second];
    expect(outcome).toEqual({
      outcome: "applied",
      from: order,
      order: { ...order, status: "RETURNED", shipments, updatedAt: NOW, lastSequence: 2 },
      facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-1" }],
    });
  });

  it("is rejected for a shipment that the order does not have", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "COMPLETED" });
    const outcome = applyTransition(order, { name: "returnShipment", shipmentId: "parcel-9" }, NOW);
    expect(outcome).toEqual({ outcome: "rejected", order, rule: "no_shipment_out" });
  });
});

it.each([
  ["JD01", "https://a", true],
  ["JD02", "https://a", false],
  ["JD01", "https://b", false],
  ["JD01", null, false],
  [null, "https://a", false],
  [null, null, false],
])("tracking JD01 with https://a and %s with %s are the same for partners: %s", (number, url, same) => {
  const one = { trackingNumber: "JD01", trackingUrl: "https://a" };
  expect(isSameTracking(one, { trackingNumber: number, trackingUrl: url })).toBe(same);
});
