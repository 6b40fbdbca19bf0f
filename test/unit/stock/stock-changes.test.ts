import { describe, expect, it } from "vitest";
import { type AppliedTransition, SERVICE } from "../../../src/lifecycle/applied-transition.ts";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order, Transition } from "../../../src/lifecycle/order.ts";
import {
  linesToEnd,
  type Reservation,
  reservationSplits,
  stockMovesOf,
} from "../../../src/stock/reservations-sql.ts";
import { NOW, REAL, type Shipped, shippedOrder } from "../../support/lifecycle-orders.ts";

/** A routed order whose lines are one unit and two units of a product. */
const anOrder = (shipped: Shipped, fields: Partial<Order> = {}): Order =>
  shippedOrder(shipped, { ...REAL, status: "IN_PROGRESS", facilityId: "hall", ...fields });

function transitionOf(order: Order, transition: Transition, restock?: boolean): AppliedTransition {
  const outcome = applyTransition(order, transition, NOW);
  if (outcome.outcome === "rejected") throw new Error(`${transition.name} was rejected: ${outcome.rule}.`);
  const cause = { actor: SERVICE, operation: transition.name, ...(restock === undefined ? {} : { restock }) };
  return { ...cause, before: outcome.from, after: outcome.order, facts: outcome.facts };
}

const ship = (lineIds: string[] | null): Transition => ({
  name: "ship",
  lineIds,
  newShipmentId: "parcel-new",
});
const abroad: Transition = {
  name: "updateShippingAddress",
  change: { countryCode: "FR" },
  isShippingPending: false,
};
const reserved = (lineId: string, quantity: number): Reservation => ({
  orderId: "order",
  lineId,
  facilityId: "hall",
  productId: "product",
  quantity,
});
const moved = (onHand: number, kept: number) => ({
  facilityId: "hall",
  productId: "product",
  orderId: "order",
  onHand,
  reserved: kept,
});
const endOf = (transition: AppliedTransition) => linesToEnd(transition).map(({ lineId }) => lineId);

describe("reservations end", () => {
  it.each<[string, AppliedTransition, string[]]>([
    ["of the line that ships", transitionOf(anOrder("nothing shipped"), ship(["line-2"])), ["line-2"]],
    ["of all lines that ship", transitionOf(anOrder("nothing shipped"), ship(null)), ["line-1", "line-2"]],
    [
      "not of a line that has shipped before",
      transitionOf(anOrder("one line shipped"), ship(null)),
      ["line-2"],
    ],
    ["of the lines left of an order that is canceled", transitionOf(anOrder("one line shipped"), { name: "cancel" }), ["line-2"]], // biome-ignore format: one line reads as one case.
    ["of the lines left of an order that is returned in part", transitionOf(anOrder("one line shipped"), { name: "returnShipment", shipmentId: null }), ["line-2"]], // biome-ignore format: one line reads as one case.
    ["not again when a settled order is returned", transitionOf(anOrder("all shipped", { status: "COMPLETED" }), { name: "returnShipment", shipmentId: null }), []], // biome-ignore format: one line reads as one case.
    ["of all lines of an order that loses its route", transitionOf(anOrder("nothing shipped", { status: "ACCEPTED", routedAt: NOW }), abroad), ["line-1", "line-2"]], // biome-ignore format: one line reads as one case.
    ["not when an order without a route gets another country", transitionOf(anOrder("nothing shipped", { status: "ACCEPTED", routedAt: null }), abroad), []], // biome-ignore format: one line reads as one case.
    [
      "not when the order is held",
      transitionOf(anOrder("nothing shipped"), { name: "hold", reasons: ["x"] }),
      [],
    ],
  ])("%s", (_, transition, lineIds) => {
    expect(endOf(transition)).toEqual(lineIds);
    for (const { orderId } of linesToEnd(transition)) expect(orderId).toBe("order");
  });
});

it("a line of which some units ship splits its reservation", () => {
  const parts = [{ lineId: "line-2", quantity: 1, restId: "rest" }];
  const some: Transition = { name: "ship", lineIds: ["line-2"], parts, newShipmentId: "parcel-new" };
  const { merchantId } = anOrder("nothing shipped");
  expect(reservationSplits(transitionOf(anOrder("nothing shipped"), some))).toEqual([
    { merchantId, orderId: "order", lineId: "line-2", restId: "rest", quantity: 1 },
  ]);
  expect(reservationSplits(transitionOf(anOrder("nothing shipped"), ship(["line-2"])))).toEqual([]);
});

describe("stock moves", () => {
  const both = [reserved("line-1", 1), reserved("line-2", 2)];

  it("out of the facility with the lines that ship, for which it was reserved", () => {
    const moves = stockMovesOf(
      [transitionOf(anOrder("nothing shipped"), ship(["line-2"]))],
      [reserved("line-2", 2)],
    );
    expect(moves.leaving).toMatchObject([moved(-2, -2)]);
    expect(moves.freed).toEqual([]);
  });

  it("back to the available stock with the lines of a canceled order", () => {
    const moves = stockMovesOf([transitionOf(anOrder("nothing shipped"), { name: "cancel" })], both);
    expect(moves.leaving).toEqual([]);
    expect(moves.freed).toMatchObject([moved(0, -1), moved(0, -2)]);
  });

  it("both ways for the orders of one batch", () => {
    const other = anOrder("nothing shipped", {
      id: "other",
      lines: [
        {
          id: "line-3",
          productId: "product",
          quantity: 3,
          shipmentId: null,
          splitFrom: null,
          returnedQuantity: 0,
          cancellationId: null,
        },
      ],
    });
    const transitions = [
      transitionOf(anOrder("nothing shipped"), ship(null)),
      transitionOf(other, { name: "cancel" }),
    ];
    const moves = stockMovesOf(transitions, [...both, { ...reserved("line-3", 3), orderId: "other" }]);
    expect(moves.leaving).toMatchObject([moved(-1, -1), moved(-2, -2)]);
    expect(moves.freed).toMatchObject([{ ...moved(0, -3), orderId: "other" }]);
  });

  it("not for products without reservations, which are made to order", () => {
    const transitions = [transitionOf(anOrder("nothing shipped"), ship(null))];
    expect(stockMovesOf(transitions, [])).toEqual({ leaving: [], freed: [] });
  });
});

describe("returned goods", () => {
  const giveBack = (shipmentId: string | null): Transition => ({ name: "returnShipment", shipmentId });
  const freedBy = (order: Order, transition: Transition, restock?: boolean) =>
    stockMovesOf([transitionOf(order, transition, restock)], []).freed;

  it("become available at the facility that sent them, when they are to go back into stock", () => {
    const order = anOrder("all shipped");
    expect(freedBy(order, giveBack("parcel-1"), true)).toEqual([moved(1, 0)]);
    expect(freedBy(order, giveBack("parcel-2"), true)).toEqual([moved(2, 0)]);
  });

  it("are those of both shipments if an order's transitions return them together", () => {
    const order = anOrder("all shipped");
    const { after } = transitionOf(transitionOf(order, giveBack("parcel-1")).after, giveBack("parcel-2"));
    const returned = { ...transitionOf(order, giveBack("parcel-1"), true), after };
    expect(stockMovesOf([returned], []).freed).toEqual([moved(1, 0), moved(2, 0)]);
  });

  it("do not become available if the cause does not state it, or states that they do not", () => {
    expect(freedBy(anOrder("all shipped"), giveBack(null))).toEqual([]);
    expect(freedBy(anOrder("all shipped"), giveBack(null), false)).toEqual([]);
  });

  it("do not become available when no facility sent them", () => {
    expect(freedBy(anOrder("all shipped", { facilityId: null }), giveBack(null), true)).toEqual([]);
  });

  it("count once: those of an earlier return do not change", () => {
    const { after } = transitionOf(anOrder("all shipped"), giveBack("parcel-1"));
    expect(freedBy(after, giveBack("parcel-2"), true)).toEqual([moved(2, 0)]);
  });
});
