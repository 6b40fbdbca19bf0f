import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import { at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";
import { type StateTable, TRANSITIONS, testStateTables } from "../../support/state-table.ts";

/** A real order follows the chart (specification, part 3; docs/design/lifecycle.md, "The chart"). */
const STATE_TABLES: StateTable[] = [
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
      voidShipment    no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  order_settled    order_settled    order_settled
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      cancelLines     not_accepted     not_accepted     ACCEPTED         IN_PROGRESS      order_settled    order_settled    order_settled
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
      voidShipment    no_shipment_out  IN_PROGRESS      order_settled    order_settled    order_settled
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
      voidShipment    no_shipment_out  no_shipment_out  no_shipment_out  IN_PROGRESS      order_settled    order_settled    order_settled
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      cancelLines     not_accepted     not_accepted     nothing_to_cancel  nothing_to_cancel  order_settled    order_settled    order_settled
      complete        unshipped_lines  unshipped_lines  unshipped_lines  COMPLETED        order_settled    order_settled    order_settled
      cancel          CANCELED         CANCELED         CANCELED         CANCELED         order_settled    order_settled    order_settled`,
  },
  {
    shipped: "all shipped",
    holdReasons: ["merchant_request"],
    cells: `
                      IN_PROGRESS
      updateShipment  IN_PROGRESS
      voidShipment    IN_PROGRESS
      returnShipment  IN_PROGRESS
      complete        COMPLETED`,
  },
  {
    shipped: "all returned",
    holdReasons: [],
    cells: `
                      IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      updateShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      voidShipment    no_shipment_out  order_settled    order_settled    order_settled
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        COMPLETED        order_settled    order_settled    order_settled`,
  },
];

testStateTables("a real order", STATE_TABLES, (status) => ({
  ...REAL,
  canceledAt: status === "CANCELED" ? at(-20) : null,
}));

describe("shipping a real order", () => {
  it("waits for its routing, which charges shipping and reserves stock", () => {
    const order = shippedOrder("nothing shipped", { ...REAL, status: "ACCEPTED", routedAt: null });
    expect(applyTransition(order, TRANSITIONS.ship, NOW)).toEqual({
      outcome: "rejected",
      order,
      rule: "not_routed",
    });
  });

  it.each<[string, string, object]>([
    ["a hold before everything else", "order_on_hold", { status: "NEW", holdReasons: ["out_of_stock"] }],
    ["the status before the routing", "not_accepted", { status: "PROCESSING" }],
    ["the routing before the lines", "not_routed", { status: "ACCEPTED" }],
  ])("names %s", (_, rule, fields) => {
    const order = shippedOrder("all shipped", { ...REAL, routedAt: null, ...fields });
    expect(applyTransition(order, TRANSITIONS.ship, NOW)).toMatchObject({ outcome: "rejected", rule });
  });

  it("is not required of a test order", () => {
    const order = shippedOrder("nothing shipped", { status: "ACCEPTED", routedAt: null });
    expect(applyTransition(order, TRANSITIONS.ship, NOW)).toMatchObject({ order: { status: "IN_PROGRESS" } });
  });
});

describe("the deadline and a transition", () => {
  const due = { ...REAL, acceptanceDueAt: at(-1) };

  it("accepts the order first: what follows starts from ACCEPTED", () => {
    const order = shippedOrder("nothing shipped", due);
    const shipped = applyTransition(order, TRANSITIONS.ship, NOW);
    expect(shipped).toMatchObject({ from: { status: "ACCEPTED", updatedAt: at(-1) } });
    expect(shipped.order.status).toBe("IN_PROGRESS");
    const accepted = applyTransition(order, { name: "accept" }, NOW);
    expect(accepted).toMatchObject({ outcome: "rejected", rule: "not_new", order: { status: "ACCEPTED" } });
  });

  it("does not change its input", () => {
    const order = shippedOrder("nothing shipped", { ...due, externalOrderId: "PO-1", facilityId: "hall" });
    const { order: held } = applyTransition(order, { name: "hold", reasons: ["x"] }, NOW);
    const { status, holdReasons, updatedAt, lastSequence, ...rest } = held;
    expect(order).toMatchObject(rest);
    expect({ status, holdReasons, updatedAt, lastSequence }).toEqual({
      status: "ACCEPTED",
      holdReasons: ["x"],
      updatedAt: NOW,
      lastSequence: 2,
    });
  });
});
