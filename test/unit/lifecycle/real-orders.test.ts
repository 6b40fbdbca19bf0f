import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Transition } from "../../../src/lifecycle/transition.ts";
import { at, NOW, REAL, type Shipped, shippedOrder } from "../../support/lifecycle-orders.ts";
import { casesOf, isStatus } from "../../support/state-table.ts";

const TRANSITIONS: Record<string, Transition> = {
  process: { name: "process" },
  accept: { name: "accept" },
  approve: { name: "approve" },
  reject: { name: "reject" },
  hold: { name: "hold", reasons: ["merchant_request"] },
  addHold: { name: "addHold", reasons: ["merchant_request"] },
  releaseHold: { name: "releaseHold" },
  ship: { name: "ship", lineIds: null, newShipmentId: "parcel-new" },
  updateShipment: { name: "updateShipment", shipmentId: "parcel-1", change: { carrier: "DHL" } },
  returnShipment: { name: "returnShipment", shipmentId: null },
  complete: { name: "complete" },
  cancel: { name: "cancel" },
  cancelByPartner: { name: "cancelByPartner" },
};

/** The events of each transition when it is applied. */
const EVENTS: Record<string, string[]> = {
  process: [],
  accept: [],
  approve: [],
  reject: ["order.canceled"],
  hold: ["order.onHold"],
  addHold: ["order.onHold"],
  releaseHold: ["order.onHoldReleased"],
  ship: ["order.shipmentCreated"],
  updateShipment: [],
  returnShipment: ["order.shipmentReturned"],
  complete: ["order.completed"],
  cancel: ["order.canceled"],
  cancelByPartner: ["order.canceled"],
};

/**
 * A real order walks the chart (specification, part 3; decision 0039). A column for each status, a row for each
 * transition. A cell is the status after it, or the rule that rejects it; `=` changes nothing and has no event.
 */
const STATE_MACHINE: { shipped: Shipped; holdReasons: string[]; cells: string }[] = [
  {
    shipped: "nothing shipped",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      process         not_new          not_new          not_new          not_new          order_settled    order_settled    order_settled
      accept          ACCEPTED         not_new          not_new          not_new          order_settled    order_settled    order_settled
      approve         not_in_review    ACCEPTED         not_in_review    not_in_review    order_settled    order_settled    order_settled
      reject          not_in_review    CANCELED         not_in_review    not_in_review    order_settled    order_settled    order_settled
      hold            NEW              PROCESSING       ACCEPTED         IN_PROGRESS      order_settled    order_settled    order_settled
      addHold         NEW              PROCESSING       ACCEPTED         IN_PROGRESS      order_settled    order_settled    order_settled
      releaseHold     =                =                =                =                order_settled    order_settled    order_settled
      ship            not_accepted     not_accepted     IN_PROGRESS      IN_PROGRESS      order_settled    order_settled    order_settled
      updateShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        unshipped_lines  unshipped_lines  unshipped_lines  unshipped_lines  order_settled    order_settled    order_settled
      cancel          CANCELED         CANCELED         CANCELED         CANCELED         order_settled    order_settled    order_settled
      cancelByPartner CANCELED         not_cancelable   not_cancelable   not_cancelable   not_cancelable   =                not_cancelable`,
  },
  {
    shipped: "nothing shipped",
    holdReasons: ["out_of_stock"],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      accept          ACCEPTED         not_new          not_new          not_new
      approve         not_in_review    ACCEPTED         not_in_review    not_in_review
      reject          not_in_review    CANCELED         not_in_review    not_in_review
      hold            NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      addHold         NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      releaseHold     NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      ship            order_on_hold    order_on_hold    order_on_hold    order_on_hold
      complete        unshipped_lines  unshipped_lines  unshipped_lines  unshipped_lines
      cancel          CANCELED         CANCELED         CANCELED         CANCELED
      cancelByPartner CANCELED         not_cancelable   not_cancelable   not_cancelable`,
  },
  {
    shipped: "nothing shipped",
    holdReasons: ["payment_failed"],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      releaseHold     =                =                =                =
      ship            order_on_hold    order_on_hold    order_on_hold    order_on_hold
      cancel          CANCELED         CANCELED         CANCELED         CANCELED
      cancelByPartner CANCELED         CANCELED         CANCELED         CANCELED`,
  },
  {
    shipped: "one line shipped",
    holdReasons: [],
    cells: `
                      ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      ship            IN_PROGRESS      IN_PROGRESS      order_settled    order_settled    order_settled
      updateShipment  no_shipment_out  IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      returnShipment  no_shipment_out  RETURNED         RETURNED         RETURNED         RETURNED
      complete        unshipped_lines  unshipped_lines  order_settled    order_settled    order_settled`,
  },
  {
    shipped: "all shipped",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      ship            not_accepted     not_accepted     nothing_to_ship  nothing_to_ship  order_settled    order_settled    order_settled
      updateShipment  no_shipment_out  no_shipment_out  no_shipment_out  IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  RETURNED         RETURNED         RETURNED         RETURNED
      complete        unshipped_lines  unshipped_lines  unshipped_lines  COMPLETED        order_settled    order_settled    order_settled
      cancel          CANCELED         CANCELED         CANCELED         CANCELED         order_settled    order_settled    order_settled`,
  },
  {
    shipped: "all shipped",
    holdReasons: ["merchant_request"],
    cells: `
                      IN_PROGRESS
      updateShipment  IN_PROGRESS
      returnShipment  RETURNED
      complete        COMPLETED`,
  },
  {
    shipped: "all returned",
    holdReasons: [],
    cells: `
                      IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      updateShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        COMPLETED        order_settled    order_settled    order_settled`,
  },
];

for (const { shipped, holdReasons, cells } of STATE_MACHINE) {
  describe(`a real order with ${shipped}, ${holdReasons.length === 0 ? "not held" : `held for ${holdReasons}`}`, () => {
    it.each(casesOf(cells))("%s: %s → %s", (status, name, result) => {
      const canceledAt = status === "CANCELED" ? at(-20) : null;
      const order = shippedOrder(shipped, { ...REAL, status, holdReasons, canceledAt });
      const outcome = applyTransition(order, TRANSITIONS[name] as Transition, NOW);
      if (result === "=")
        return expect(outcome).toEqual({ outcome: "applied", from: order, order, facts: [] });
      if (!isStatus(result)) return expect(outcome).toEqual({ outcome: "rejected", order, rule: result });
      const events = EVENTS[name] ?? [];
      expect(outcome).toMatchObject({
        outcome: "applied",
        from: order,
        order: { status: result, updatedAt: NOW, lastSequence: 1 + events.length },
      });
      expect(outcome.outcome === "applied" && outcome.facts.map(({ type }) => type)).toEqual(events);
    });
  });
}

describe("shipping a real order", () => {
  const ship = TRANSITIONS["ship"] as Transition;

  it("waits for its routing, which charges shipping and reserves stock", () => {
    const order = shippedOrder("nothing shipped", { ...REAL, status: "ACCEPTED", routedAt: null });
    expect(applyTransition(order, ship, NOW)).toEqual({ outcome: "rejected", order, rule: "not_routed" });
  });

  it.each<[string, string, object]>([
    ["a hold before everything else", "order_on_hold", { status: "NEW", holdReasons: ["out_of_stock"] }],
    ["the status before the routing", "not_accepted", { status: "PROCESSING" }],
    ["the routing before the lines", "not_routed", { status: "ACCEPTED" }],
  ])("names %s", (_, rule, fields) => {
    const order = shippedOrder("all shipped", { ...REAL, routedAt: null, ...fields });
    expect(applyTransition(order, ship, NOW)).toMatchObject({ outcome: "rejected", rule });
  });

  it("is not required of a test order", () => {
    const order = shippedOrder("nothing shipped", { status: "ACCEPTED", routedAt: null });
    expect(applyTransition(order, ship, NOW)).toMatchObject({ order: { status: "IN_PROGRESS" } });
  });
});

describe("the deadline and a transition", () => {
  const due = { ...REAL, acceptanceDueAt: at(-1) };

  it("accepts the order first: what follows starts from ACCEPTED", () => {
    const order = shippedOrder("nothing shipped", due);
    const shipped = applyTransition(order, TRANSITIONS["ship"] as Transition, NOW);
    expect(shipped).toMatchObject({ from: { status: "ACCEPTED", updatedAt: at(-1) } });
    expect(shipped.order.status).toBe("IN_PROGRESS");
    const accepted = applyTransition(order, { name: "accept" }, NOW);
    expect(accepted).toMatchObject({ outcome: "rejected", rule: "not_new", order: { status: "ACCEPTED" } });
  });

  it("does not touch what the order was given", () => {
    const order = shippedOrder("nothing shipped", { ...due, externalOrderId: "PO-1", facilityId: "hall" });
    const { order: held } = applyTransition(order, { name: "hold", reasons: ["x"] }, NOW);
    const { status, holdReasons, updatedAt, lastSequence, ...rest } = held;
    expect(order).toMatchObject(rest);
    expect({ status, holdReasons, updatedAt, lastSequence }).toEqual({
      ...{ status: "ACCEPTED", holdReasons: ["x"] },
      ...{ updatedAt: NOW, lastSequence: 2 },
    });
  });
});
