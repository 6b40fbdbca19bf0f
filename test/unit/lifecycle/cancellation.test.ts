import { describe, expect, it } from "vitest";
import {
  applyTransition,
  cancelableUntil,
  isCancelableByPartner,
  wasCanceled,
} from "../../../src/lifecycle/lifecycle.ts";
import { ORDER_STATUSES, type Order, type Transition } from "../../../src/lifecycle/order.ts";
import { anOrder, at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const FAILED = { holdReasons: ["payment_failed"] };

describe("the time of a cancellation", () => {
  it.each<[string, Partial<Order>, Transition]>([
    ["a partner cancels", REAL, { name: "cancelByPartner" }],
    ["the back office cancels", { ...REAL, status: "IN_PROGRESS" }, { name: "cancel" }],
    ["a review is rejected", { ...REAL, status: "PROCESSING" }, { name: "reject" }],
    ["a test order is canceled", {}, { name: "cancel" }],
  ])("is stored when %s", (_, fields, transition) => {
    const { order } = applyTransition(anOrder(fields), transition, NOW);
    expect(order).toMatchObject({ status: "CANCELED", canceledAt: NOW, updatedAt: NOW });
    expect(wasCanceled(order)).toBe(true);
  });

  it.each<[string, Partial<Order>, Transition]>([
    ["it is accepted", REAL, { name: "accept" }],
    ["it is held", REAL, { name: "hold", reasons: ["x"] }],
    ["it is shipped", { ...REAL, status: "ACCEPTED" }, { name: "ship", lineIds: null, newShipmentId: "s" }],
  ])("is null for an order that was not canceled when %s", (_, fields, transition) => {
    const { order } = applyTransition(anOrder(fields), transition, NOW);
    expect(order.canceledAt).toBeNull();
    expect(wasCanceled(order)).toBe(false);
  });

  it("stays when a shipment comes back afterwards, and the status is RETURNED", () => {
    const canceled = shippedOrder("one line shipped", { ...REAL, status: "CANCELED", canceledAt: at(-20) });
    const { order } = applyTransition(canceled, { name: "returnShipment", shipmentId: null }, NOW);
    expect(order).toMatchObject({ status: "RETURNED", canceledAt: at(-20) });
    expect(wasCanceled(order)).toBe(true);
  });

  it("stays when the partner cancels again", () => {
    const canceled = anOrder({ ...REAL, status: "CANCELED", canceledAt: at(-20) });
    const { order } = applyTransition(canceled, { name: "cancelByPartner" }, NOW);
    expect(order.canceledAt).toEqual(at(-20));
  });
});

/**
 * What a partner may cancel, and until when (docs/design/lifecycle.md, "Fields of an order" and "A failed payment is a hold").
 */
describe("cancelableUntil", () => {
  const END = new Date("9999-12-31T23:59:59.999Z");

  it.each<[string, Partial<Order>, Date | null]>([
    ["a new real order: the end of its window", REAL, at(60)],
    ["a new test order: its erasure", {}, at(60)],
    ["a held order: the end of its window", { ...REAL, holdReasons: ["out_of_stock"] }, at(60)],
    ["a failed payment: without end", { ...REAL, ...FAILED }, END],
    ["a failed payment after acceptance: without end", { ...REAL, ...FAILED, status: "ACCEPTED" }, END],
    ["a failed payment in review: without end", { ...REAL, ...FAILED, status: "PROCESSING" }, END],
    ["a failed payment of a test order: its erasure", { ...FAILED, status: "ACCEPTED" }, at(60)],
    ["PROCESSING: never", { ...REAL, status: "PROCESSING" }, null],
    ["ACCEPTED: no longer", { ...REAL, status: "ACCEPTED" }, null],
    ["IN_PROGRESS: no longer", { ...REAL, status: "IN_PROGRESS" }, null],
    ["an order that never had a window", { ...REAL, acceptanceDueAt: null }, null],
  ])("%s", (_, fields, until) => {
    expect(cancelableUntil(anOrder(fields))).toEqual(until);
  });

  it.each(["COMPLETED", "CANCELED", "RETURNED"] as const)("%s: never, whatever its holds", (status) => {
    expect(cancelableUntil(anOrder({ ...REAL, status }))).toBeNull();
    expect(cancelableUntil(anOrder({ ...REAL, ...FAILED, status }))).toBeNull();
    expect(isCancelableByPartner(anOrder({ ...REAL, ...FAILED, status }), NOW)).toBe(false);
  });

  it("is set exactly for the orders that a partner can cancel", () => {
    for (const status of ORDER_STATUSES)
      for (const holdReasons of [[], ["out_of_stock"], ["payment_failed"]])
        for (const kind of [{}, REAL]) {
          const order = anOrder({ ...kind, status, holdReasons });
          expect(cancelableUntil(order) !== null, `${status} ${holdReasons}`).toBe(
            isCancelableByPartner(order, NOW),
          );
        }
  });
});
