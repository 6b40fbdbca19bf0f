import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Shipment, Tracking, Transition } from "../../../src/lifecycle/order.ts";
import { isSameForPartners } from "../../../src/lifecycle/parts.ts";
import { at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

type ShipmentChange = Extract<Transition, { name: "updateShipment" }>["change"];

const TRACKING = { carrier: "DHL", trackingNumber: "JD01", trackingUrl: "https://track.example/JD01" };

const SHIPPED_AT = at(-10);
const UNTRACKED: Partial<Shipment> = {
  carrier: null,
  trackingNumber: null,
  trackingUrl: null,
  status: "pending" as const,
  shippedAt: null,
};

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
    expect(shipped.shipments).toEqual([
      {
        id: "parcel-new",
        status: "shipped",
        ...TRACKING,
        createdAt: NOW,
        shippedAt: NOW,
        scannedTrackingNumber: null,
        handoverReported: false,
        deliveredAt: null,
        weightGrams: null,
      },
    ]);
    expect(shipped.lines.map(({ shipmentId }) => shipmentId)).toEqual([null, "parcel-new"]);
  });

  it.each<[string, Partial<Tracking>, string]>([
    ["a number", { trackingNumber: "JD01" }, "shipped"],
    ["an address", { trackingUrl: "https://track.example/JD01" }, "shipped"],
    ["a carrier alone", { carrier: "DHL" }, "pending"],
    ["nothing", {}, "pending"],
  ])("with %s has the status that follows from it", (_, sent, status) => {
    const order = shippedOrder("nothing shipped", { ...REAL, status: "ACCEPTED" });
    const tracking = { carrier: null, trackingNumber: null, trackingUrl: null, ...sent };
    const ship = { name: "ship", lineIds: null, newShipmentId: "parcel-new", tracking } as const;
    const [shipment] = applyTransition(order, ship, NOW).order.shipments;
    expect(shipment).toMatchObject({
      status,
      shippedAt: status === "shipped" ? NOW : null,
      deliveredAt: null,
      weightGrams: null,
    });
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
    const handedOver = { status: "shipped", shippedAt: SHIPPED_AT, handoverReported: true } as const;
    const shipments = order.shipments.map((each) => ({ ...each, ...TRACKING, ...handedOver, ...fields }));
    return { ...order, shipments };
  };

  it.each<[string, ShipmentChange]>([
    ["the carrier", { carrier: "UPS" }],
    ["the number", { trackingNumber: "JD02" }],
    ["the address", { trackingUrl: "https://track.example/JD02" }],
    ["all of the tracking", { carrier: null, trackingNumber: null, trackingUrl: null, status: "shipped" }],
  ])("changes %s of the named shipment, and nothing else", (_, change) => {
    const order = sent();
    const [first, second] = order.shipments;
    const expected = { ...order, shipments: [{ ...first, ...change }, second], updatedAt: NOW };
    expect(update(order, change)).toEqual({ outcome: "applied", from: order, order: expected, facts: [] });
  });

  it.each<[string, ShipmentChange]>([
    ["nothing is sent", {}],
    ["all is as it was", { ...TRACKING, status: "shipped" }],
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

  it.each<[string, Partial<Shipment>, ShipmentChange, Partial<Shipment>]>([
    ["first tracking", UNTRACKED, { trackingNumber: "JD01" }, { status: "shipped", shippedAt: NOW }],
    ["first page", UNTRACKED, { trackingUrl: "https://a" }, { status: "shipped", shippedAt: NOW }],
    ["carrier without tracking", UNTRACKED, { carrier: "DHL" }, { status: "pending", shippedAt: null }],
    [
      "first tracking that names the status",
      UNTRACKED,
      { trackingNumber: "JD01", status: "pending" },
      { status: "pending", shippedAt: null },
    ],
    [
      "changed tracking of a pending shipment",
      { status: "pending", shippedAt: null },
      { trackingNumber: "JD02" },
      { status: "pending", shippedAt: null },
    ],
    [
      "first tracking of a delivered shipment",
      { ...UNTRACKED, status: "delivered", shippedAt: SHIPPED_AT, deliveredAt: SHIPPED_AT },
      { trackingNumber: "JD01" },
      { status: "delivered", shippedAt: SHIPPED_AT, deliveredAt: SHIPPED_AT },
    ],
    ["shipped", UNTRACKED, { status: "shipped" }, { status: "shipped", shippedAt: NOW, deliveredAt: null }],
    [
      "delivered",
      {},
      { status: "delivered" },
      { status: "delivered", shippedAt: SHIPPED_AT, deliveredAt: NOW },
    ],
    [
      "delivered at once",
      UNTRACKED,
      { status: "delivered" },
      { status: "delivered", shippedAt: NOW, deliveredAt: NOW },
    ],
    [
      "not delivered after all",
      { status: "delivered", deliveredAt: SHIPPED_AT },
      { status: "shipped" },
      { status: "shipped", shippedAt: SHIPPED_AT, deliveredAt: null },
    ],
    [
      "not shipped after all",
      { status: "delivered", deliveredAt: SHIPPED_AT },
      { status: "pending" },
      { status: "pending", shippedAt: null, deliveredAt: null },
    ],
  ])("sets status and times: %s", (_, stored, change, expected) => {
    expect(update(sent(stored), change).order.shipments[0]).toMatchObject(expected);
  });

  it("leaves the time of a cancellation as it was", () => {
    const order = { ...sent(), status: "CANCELED", canceledAt: at(-20) } as const;
    expect(update(order, { carrier: "UPS" }).order.canceledAt).toEqual(at(-20));
  });
});

describe("voidShipment", () => {
  const voided = (order: ReturnType<typeof shippedOrder>, shipmentId = "parcel-1") =>
    applyTransition(order, { name: "voidShipment", shipmentId }, NOW);
  const started = (fields: Partial<Shipment> = {}) => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const shipments = order.shipments.map((each) => ({ ...each, ...fields }));
    return { ...order, shipments };
  };

  it("unships the lines of the named shipment, and publishes no event that counts", () => {
    const order = started({ ...TRACKING, status: "shipped", shippedAt: SHIPPED_AT });
    const [first, second] = order.shipments;
    const lines = order.lines.map((line, index) => (index === 0 ? { ...line, shipmentId: null } : line));
    const shipments = [{ ...first, status: "voided", shippedAt: null }, second];
    expect(voided(order)).toEqual({
      outcome: "applied",
      from: order,
      order: { ...order, lines, shipments, updatedAt: NOW },
      facts: [],
    });
  });

  it("happens once, and is possible while the order is on hold", () => {
    const order = { ...started(), holdReasons: ["damaged"] };
    const once = voided(order).order;
    expect(voided(once)).toEqual({ outcome: "applied", from: once, order: once, facts: [] });
    expect(once.holdReasons).toEqual(["damaged"]);
    expect(once.shipments.map(({ status }) => status)).toEqual(["voided", "pending"]);
  });

  it.each<[string, ReturnType<typeof shippedOrder>, string, string]>([
    ["that the order does not have", started(), "parcel-9", "no_shipment_out"],
    ["that came back", started({ status: "returned" }), "parcel-1", "no_shipment_out"],
    ["that the carrier has", started({ handoverReported: true }), "parcel-1", "shipment_left"],
    ["of a settled order", { ...started(), status: "COMPLETED" }, "parcel-1", "order_settled"],
  ])("is rejected for a shipment %s", (_, order, id, rule) => {
    expect(voided(order, id)).toEqual({ outcome: "rejected", order, rule });
  });

  it("is rejected if a unit of it came back", () => {
    const order = started();
    const lines = order.lines.map((line) => ({ ...line, returnedQuantity: 1 }));
    expect(voided({ ...order, lines })).toMatchObject({ outcome: "rejected", rule: "shipment_left" });
  });

  it("leaves nothing that could come back", () => {
    const one = voided(voided(started()).order, "parcel-2").order;
    expect(applyTransition(one, { name: "returnShipment", shipmentId: null }, NOW)).toMatchObject({
      rule: "no_shipment_out",
    });
    expect(applyTransition(one, { name: "complete" }, NOW)).toMatchObject({ rule: "unshipped_lines" });
  });
});

describe("returnShipment", () => {
  it("marks the one shipment as returned, and keeps its tracking and its lines", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "COMPLETED" });
    const outcome = applyTransition(order, { name: "returnShipment", shipmentId: "parcel-1" }, NOW);
    const [first, second] = order.shipments;
    const shipments = [{ ...first, status: "returned" }, second];
    const lines = order.lines.map((line, index) => (index === 0 ? { ...line, returnedQuantity: 1 } : line));
    expect(outcome).toEqual({
      outcome: "applied",
      from: order,
      order: { ...order, lines, shipments, updatedAt: NOW, lastSequence: 2 },
      facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-1" }],
    });
  });

  it("is rejected for a shipment that the order does not have", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "COMPLETED" });
    const outcome = applyTransition(order, { name: "returnShipment", shipmentId: "parcel-9" }, NOW);
    expect(outcome).toEqual({ outcome: "rejected", order, rule: "no_shipment_out" });
  });
});

describe("complete", () => {
  it("makes pending shipments shipped, and leaves the others as they are", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const [first, second] = order.shipments;
    if (first === undefined || second === undefined) throw new Error("The order has two shipments.");
    const shipments = [first, { ...second, status: "returned" } as const];
    const { order: completed } = applyTransition({ ...order, shipments }, { name: "complete" }, NOW);
    expect(completed.status).toBe("COMPLETED");
    expect(completed.shipments).toEqual([{ ...first, status: "shipped", shippedAt: NOW }, shipments[1]]);
  });

  it("changes no shipment that was handed over", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const shipments = order.shipments.map((each) => ({ ...each, status: "delivered" as const }));
    const { order: completed } = applyTransition({ ...order, shipments }, { name: "complete" }, NOW);
    expect(completed.shipments).toBe(shipments);
  });
});

it.each<[string, Partial<Shipment>, boolean]>([
  ["nothing", {}, true],
  ["the number", { trackingNumber: "JD02" }, false],
  ["the address", { trackingUrl: null }, false],
  ["the carrier", { carrier: null }, false],
  ["the status", { status: "delivered" }, false],
])("a shipment has not changed for partners if %s changed: %s", (_, change, same) => {
  const [stored] = shippedOrder("all shipped", REAL).shipments;
  if (stored === undefined) throw new Error("The order has shipments.");
  const one = { ...stored, ...TRACKING };
  expect(isSameForPartners(one, { ...one, ...change })).toBe(same);
});
