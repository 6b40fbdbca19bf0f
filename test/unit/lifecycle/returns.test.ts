import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order, OrderLine } from "../../../src/lifecycle/order.ts";
import { quantityOut, returnedBetween, shipmentsOut } from "../../../src/lifecycle/parts.ts";
import { anOrder, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

/** Two lines of 5 units in a shipment, and one in another. */
function twoParcels(fields: Partial<Order> = {}): Order {
  const { shipments } = shippedOrder("all shipped", {});
  const line = (id: string, shipmentId: string): OrderLine => ({
    id,
    productId: "product",
    quantity: 5,
    shipmentId,
    splitFrom: null,
    returnedQuantity: 0,
    cancellationId: null,
  });
  const lines = [line("a", "parcel-1"), line("b", "parcel-1"), line("c", "parcel-2")];
  return anOrder({ ...REAL, status: "COMPLETED", lines, shipments, ...fields });
}
const take = (order: Order, lines: Record<string, number>) =>
  applyTransition(
    order,
    {
      name: "returnShipment",
      shipmentId: null,
      lines: Object.entries(lines).map(([lineId, quantity]) => ({ lineId, quantity })),
    },
    NOW,
  );
const back = (order: Order) => order.lines.map(({ returnedQuantity }) => returnedQuantity);
const statuses = (order: Order) => [order.status, ...order.shipments.map(({ status }) => status)];

describe("the return of some units", () => {
  it("counts them, and changes no status and publishes no fact", () => {
    const outcome = take(twoParcels(), { a: 2, c: 1 });
    expect(outcome).toMatchObject({ outcome: "applied", facts: [] });
    expect(back(outcome.order)).toEqual([2, 0, 1]);
    expect(statuses(outcome.order)).toEqual(["COMPLETED", "pending", "pending"]);
    expect(outcome.order.lastSequence).toBe(1);
  });

  it("returns a shipment with its last unit, and the order with its last shipment", () => {
    const first = take(twoParcels(), { a: 2, b: 5 }).order;
    const second = take(first, { a: 3 });
    expect(second).toMatchObject({ facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-1" }] });
    expect(statuses(second.order)).toEqual(["COMPLETED", "returned", "pending"]);
    const last = take(second.order, { c: 5 });
    expect(last).toMatchObject({ facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-2" }] });
    expect(statuses(last.order)).toEqual(["RETURNED", "returned", "returned"]);
    expect(last.order.lastSequence).toBe(3);
  });

  it("of two shipments at once has a fact for each of them", () => {
    const { order } = take(twoParcels(), { a: 5, b: 5, c: 5 });
    expect(statuses(order)).toEqual(["RETURNED", "returned", "returned"]);
    expect(order.lastSequence).toBe(3);
  });

  it.each<[string, Record<string, number>, Partial<Order>]>([
    ["more units than are out", { a: 6 }, {}],
    ["a unit too many of one of several lines", { a: 1, c: 6 }, {}],
    ["no line", {}, {}],
    ["a line that has not shipped", { a: 1 }, { lines: [], shipments: [] }],
  ])("is rejected with %s", (_, lines, fields) => {
    const order = twoParcels(fields);
    expect(take(order, lines)).toEqual({ outcome: "rejected", order, rule: "no_shipment_out" });
  });

  it("is rejected for what has come back already", () => {
    const { order } = take(twoParcels(), { a: 5, b: 5 });
    for (const lines of [{ a: 1 }, { b: 1, c: 1 }])
      expect(take(order, lines)).toEqual({ outcome: "rejected", order, rule: "no_shipment_out" });
  });

  it("is rejected for a line of a shipment that came back without its units being counted", () => {
    const order = twoParcels();
    const [first, second] = order.shipments;
    if (first === undefined || second === undefined) throw new Error("The order has two shipments.");
    const known = { ...order, shipments: [{ ...first, status: "returned" } as const, second] };
    expect(take(known, { a: 1 })).toEqual({ outcome: "rejected", order: known, rule: "no_shipment_out" });
  });
});

describe("the return of a shipment", () => {
  it("brings back the units that are still out", () => {
    const some = take(twoParcels(), { a: 2 }).order;
    const { order } = applyTransition(some, { name: "returnShipment", shipmentId: "parcel-1" }, NOW);
    expect(back(order)).toEqual([5, 5, 0]);
    expect(returnedBetween(some, order).map(({ line, quantity }) => [line.id, quantity])).toEqual([
      ["a", 3],
      ["b", 5],
    ]);
  });

  it.each([
    [false, "COMPLETED"],
    [true, "RETURNED"],
  ])("of two, of a test order %s, makes it %s", (testMode, status) => {
    const order = twoParcels({ testMode });
    const outcome = applyTransition(order, { name: "returnShipment", shipmentId: null }, NOW);
    expect(statuses(outcome.order)).toEqual([status, "pending", "returned"]);
  });
});

it("what is out has shipped and not come back", () => {
  const order = take(twoParcels(), { a: 2, b: 5 }).order;
  expect(order.lines.map(quantityOut)).toEqual([3, 0, 5]);
  expect(shipmentsOut(order).map(({ id }) => id)).toEqual(["parcel-1", "parcel-2"]);
  const [line] = order.lines;
  if (line === undefined) throw new Error("The order has lines.");
  expect(quantityOut({ ...line, shipmentId: null, returnedQuantity: 0 })).toBe(0);
});
