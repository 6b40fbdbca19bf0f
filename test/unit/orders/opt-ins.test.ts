import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order, Transition } from "../../../src/lifecycle/order.ts";
import { isWhole, optInsOf } from "../../../src/orders/changes/order-events.ts";
import { anOrder, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const typesOf = (before: Order, transition: Transition): string[] =>
  optInsOf({ before, after: applyTransition(before, transition, NOW).order }).map(({ type }) => type);
const ship: Transition = { name: "ship", lineIds: ["line-1"], newShipmentId: "parcel-new" };

/** See docs/design/event-feed.md, "Event types". */
describe("events for endpoints that name them", () => {
  it.each<[string, Partial<Order>, Transition, string[]]>([
    ["the order is accepted", REAL, { name: "accept" }, ["order.accepted"]],
    ["its review is approved", { ...REAL, status: "PROCESSING" }, { name: "approve" }, ["order.accepted"]],
    ["its first line ships", { ...REAL, status: "ACCEPTED" }, ship, ["order.inProgress"]],
    ["a further line ships", { ...REAL, status: "IN_PROGRESS" }, ship, []],
    ["an accepted order is held", { ...REAL, status: "ACCEPTED" }, { name: "hold", reasons: ["x"] }, []],
    ["its payment fails", REAL, { name: "addHold", reasons: ["payment_failed"] }, ["order.paymentFailed"]],
    [
      "it is held for more",
      { ...REAL, holdReasons: ["payment_failed"] },
      { name: "addHold", reasons: ["x"] },
      [],
    ],
    [
      "it is released",
      { ...REAL, holdReasons: ["payment_failed"] },
      { name: "releaseHold", reasons: ["payment_failed"] },
      [],
    ],
    ["it is canceled", REAL, { name: "cancel" }, []],
  ])("%s", (_, fields, transition, types) => {
    expect(typesOf(anOrder(fields), transition)).toEqual(types);
  });

  it.each<[string, Transition, string[]]>([
    ["accept", { name: "accept" }, []],
    ["ship", ship, ["order.inProgress"]],
    ["hold", { name: "hold", reasons: ["payment_failed"] }, ["order.paymentFailed"]],
  ])("a test order has them, except when it is accepted: %s", (_, transition, types) => {
    expect(typesOf(anOrder(), transition)).toEqual(types);
  });

  it("a status or tracking that arrives or changes, for the shipment that it is about", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const update = (change: object): Transition => ({
      name: "updateShipment",
      shipmentId: "parcel-2",
      change,
    });
    const after = applyTransition(order, update({ trackingNumber: "JD01" }), NOW).order;
    expect(optInsOf({ before: order, after })).toEqual([
      { type: "order.shipmentUpdated", shipment: after.shipments[1] },
    ]);
    expect(typesOf(order, update({ trackingUrl: "https://track.example/JD01" }))).toEqual([
      "order.shipmentUpdated",
    ]);
    expect(typesOf(after, update({ trackingNumber: "JD02" }))).toEqual(["order.shipmentUpdated"]);
    expect(typesOf(order, update({ carrier: "DHL" }))).toEqual(["order.shipmentUpdated"]);
    expect(typesOf(order, update({ status: "delivered" }))).toEqual(["order.shipmentUpdated"]);
    expect(typesOf(order, { name: "returnShipment", shipmentId: null })).toEqual([]);
  });

  it("each shipment that the completion of the order makes shipped", () => {
    const order = shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" });
    const after = applyTransition(order, { name: "complete" }, NOW).order;
    expect(optInsOf({ before: order, after })).toEqual(
      after.shipments.map((shipment) => ({ type: "order.shipmentUpdated", shipment })),
    );
    const shipped = { ...after, status: "IN_PROGRESS" } as const;
    expect(typesOf(shipped, { name: "complete" })).toEqual([]);
  });

  it("at most 20 shipments of one transition, the oldest first", () => {
    const [parcel] = shippedOrder("all shipped", REAL).shipments;
    const shipments = Array.from({ length: 21 }, (_, at) => ({ ...parcel, id: `parcel-${at}` }));
    const order = {
      ...shippedOrder("all shipped", { ...REAL, status: "IN_PROGRESS" }),
      shipments: shipments as unknown as Order["shipments"], // The parcel exists.
    };
    const after = applyTransition(order, { name: "complete" }, NOW).order;
    expect(optInsOf({ before: order, after }).map(({ shipment }) => shipment?.id)).toEqual(
      shipments.slice(0, 20).map(({ id }) => id),
    );
    expect(after.shipments.every(({ status }) => status === "shipped")).toBe(true);
  });

  it("an acceptance is published also of an order that was read without its lines", () => {
    const { lines, shipments, ...state } = anOrder(REAL);
    expect(isWhole(state)).toBe(false);
    expect(isWhole(anOrder())).toBe(true);
    expect(optInsOf({ before: state, after: { ...state, status: "ACCEPTED" } })).toEqual([
      { type: "order.accepted" },
    ]);
  });
});
