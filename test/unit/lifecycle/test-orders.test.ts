import { describe, expect, it } from "vitest";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order } from "../../../src/lifecycle/order.ts";
import { anOrder, NOW, type Shipped, shippedOrder } from "../../support/lifecycle-orders.ts";
import { type StateTable, testStateTables } from "../../support/state-table.ts";

/** Specification, part 3: a test order need not follow the chart in order. */
const STATE_TABLES: StateTable[] = [
  {
    shipped: "nothing shipped",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      process         PROCESSING       PROCESSING       PROCESSING       PROCESSING       order_settled    order_settled    order_settled
      accept          ACCEPTED         ACCEPTED         ACCEPTED         ACCEPTED         order_settled    order_settled    order_settled
      hold            NEW              PROCESSING       ACCEPTED         IN_PROGRESS      order_settled    order_settled    order_settled
      releaseHold     =                =                =                =                order_settled    order_settled    order_settled
      ship            IN_PROGRESS      IN_PROGRESS      IN_PROGRESS      IN_PROGRESS      order_settled    order_settled    order_settled
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        unshipped_lines  unshipped_lines  unshipped_lines  unshipped_lines  order_settled    order_settled    order_settled
      cancel          CANCELED         CANCELED         CANCELED         CANCELED         order_settled    order_settled    order_settled
      cancelByPartner CANCELED         not_cancelable   not_cancelable   not_cancelable   not_cancelable   =                not_cancelable`,
  },
  {
    shipped: "nothing shipped",
    holdReasons: ["merchant_request"],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      process         PROCESSING       PROCESSING       PROCESSING       PROCESSING
      accept          ACCEPTED         ACCEPTED         ACCEPTED         ACCEPTED
      hold            NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      releaseHold     NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      ship            order_on_hold    order_on_hold    order_on_hold    order_on_hold
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        unshipped_lines  unshipped_lines  unshipped_lines  unshipped_lines
      cancel          CANCELED         CANCELED         CANCELED         CANCELED
      cancelByPartner CANCELED         not_cancelable   not_cancelable   not_cancelable`,
  },
  {
    shipped: "nothing shipped",
    holdReasons: ["out_of_stock", "payment_failed"],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      process         PROCESSING       PROCESSING       PROCESSING       PROCESSING
      releaseHold     NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      ship            order_on_hold    order_on_hold    order_on_hold    order_on_hold
      cancelByPartner CANCELED         CANCELED         CANCELED         CANCELED`,
  },
  {
    shipped: "one line shipped",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      ship            IN_PROGRESS      IN_PROGRESS      IN_PROGRESS      IN_PROGRESS      order_settled    order_settled    order_settled
      returnShipment  RETURNED         RETURNED         RETURNED         RETURNED         RETURNED         RETURNED         RETURNED
      complete        unshipped_lines  unshipped_lines  unshipped_lines  unshipped_lines  order_settled    order_settled    order_settled`,
  },
  {
    shipped: "all shipped",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      process         PROCESSING       PROCESSING       PROCESSING       PROCESSING       order_settled    order_settled    order_settled
      ship            nothing_to_ship  nothing_to_ship  nothing_to_ship  nothing_to_ship  order_settled    order_settled    order_settled
      returnShipment  RETURNED         RETURNED         RETURNED         RETURNED         RETURNED         RETURNED         RETURNED
      complete        COMPLETED        COMPLETED        COMPLETED        COMPLETED        order_settled    order_settled    order_settled
      cancel          CANCELED         CANCELED         CANCELED         CANCELED         order_settled    order_settled    order_settled`,
  },
  {
    shipped: "all shipped",
    holdReasons: ["out_of_stock"],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS
      ship            order_on_hold    order_on_hold    order_on_hold    order_on_hold
      returnShipment  RETURNED         RETURNED         RETURNED         RETURNED
      complete        COMPLETED        COMPLETED        COMPLETED        COMPLETED`,
  },
  {
    shipped: "all returned",
    holdReasons: [],
    cells: `
                      NEW              PROCESSING       ACCEPTED         IN_PROGRESS      COMPLETED        CANCELED         RETURNED
      ship            nothing_to_ship  nothing_to_ship  nothing_to_ship  nothing_to_ship  order_settled    order_settled    order_settled
      returnShipment  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out  no_shipment_out
      complete        COMPLETED        COMPLETED        COMPLETED        COMPLETED        order_settled    order_settled    order_settled`,
  },
];

testStateTables("a test order", STATE_TABLES, () => ({}));

describe("ship", () => {
  const ship = (order: Order, lineIds: string[] | null) =>
    applyTransition(order, { name: "ship", lineIds, newShipmentId: "parcel-new" }, NOW);

  it.each<[string, Shipped, string[] | null, (string | null)[]]>([
    ["all lines by default", "nothing shipped", null, ["parcel-new", "parcel-new"]],
    ["the unshipped ones by default", "one line shipped", null, ["parcel-1", "parcel-new"]],
    ["the one named", "nothing shipped", ["line-2"], [null, "parcel-new"]],
    ["one named twice", "nothing shipped", ["line-1", "line-1"], ["parcel-new", null]],
  ])("takes %s", (_title, shipped, lineIds, expected) => {
    const { order } = ship(shippedOrder(shipped, {}), lineIds);
    expect(order.lines.map(({ shipmentId }) => shipmentId)).toEqual(expected);
    expect(order.shipments.at(-1)).toEqual({
      id: "parcel-new",
      status: "pending",
      createdAt: NOW,
      shippedAt: null,
      scannedTrackingNumber: null,
      handoverReported: false,
      deliveredAt: null,
      weightGrams: null,
      carrier: null,
      trackingNumber: null,
      trackingUrl: null,
    });
  });

  it.each<[string, Shipped, string[]]>([
    ["no line is named", "nothing shipped", []],
    ["the line named has a shipment", "one line shipped", ["line-1"]],
    ["one of the lines named has a shipment", "one line shipped", ["line-1", "line-2"]],
  ])("is rejected when %s", (_title, shipped, lineIds) => {
    const order = shippedOrder(shipped, {});
    expect(ship(order, lineIds)).toEqual({ outcome: "rejected", order, rule: "nothing_to_ship" });
  });

  it("names the new shipment in its fact", () => {
    const facts = [{ type: "order.shipmentCreated", shipmentId: "parcel-new" }];
    expect(ship(anOrder(), null)).toMatchObject({ facts });
  });
});

describe("returnShipment", () => {
  const giveBack = (order: Order, shipmentId: string | null) =>
    applyTransition(order, { name: "returnShipment", shipmentId }, NOW);

  it("takes the most recent shipment still out, then the one before", () => {
    const first = giveBack(shippedOrder("all shipped", {}), null);
    expect(first).toMatchObject({ facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-2" }] });
    const second = giveBack(first.order, null);
    expect(second).toMatchObject({ facts: [{ type: "order.shipmentReturned", shipmentId: "parcel-1" }] });
    expect(giveBack(second.order, null)).toMatchObject({ rule: "no_shipment_out" });
  });

  it("returns the named one, but not twice", () => {
    const { order } = giveBack(shippedOrder("all shipped", {}), "parcel-1");
    expect(order.shipments.map(({ status }) => status)).toEqual(["returned", "pending"]);
    expect(giveBack(order, "parcel-1")).toEqual({ outcome: "rejected", order, rule: "no_shipment_out" });
  });

  it("returns one that is shipped or delivered, not only pending", () => {
    for (const status of ["shipped", "delivered"] as const) {
      const order = shippedOrder("one line shipped", {});
      const shipments = order.shipments.map((shipment) => ({ ...shipment, status }));
      expect(giveBack({ ...order, shipments }, null).order.shipments).toMatchObject([{ status: "returned" }]);
    }
  });
});

describe("hold", () => {
  it("replaces the reasons, each once", () => {
    const order = anOrder({ holdReasons: ["merchant_request"] });
    const outcome = applyTransition(order, { name: "hold", reasons: ["b", "a", "b"] }, NOW);
    expect(outcome.order.holdReasons).toEqual(["b", "a"]);
  });
});
