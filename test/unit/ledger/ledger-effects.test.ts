import { describe, expect, it } from "vitest";
import { ledgerEffectOf } from "../../../src/ledger/ledger.ts";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order, Transition } from "../../../src/lifecycle/order.ts";
import { anOrder, at, NOW, REAL, shippedOrder } from "../../support/lifecycle-orders.ts";

const FAILED: Partial<Order> = { ...REAL, holdReasons: ["payment_failed"] };
const effectOf = (before: Order, transition: Transition) =>
  ledgerEffectOf({ before, after: applyTransition(before, transition, NOW).order });

describe("the effect of a transition on the ledger", () => {
  it.each<[string, Partial<Order>, Transition, "charge" | "refund" | "waive" | null]>([
    ["a partner cancels: refund", REAL, { name: "cancelByPartner" }, "refund"],
    ["it is approved: charge", { ...REAL, status: "PROCESSING" }, { name: "approve" }, "charge"],
    ["it is canceled in review: refund", { ...REAL, status: "PROCESSING" }, { name: "cancel" }, "refund"],
    [
      "it is held in review: nothing",
      { ...REAL, status: "PROCESSING" },
      { name: "addHold", reasons: ["x"] },
      null,
    ],
    ["a test order is approved: nothing", { status: "PROCESSING" }, { name: "approve" }, null],
    ["a review is rejected: refund", { ...REAL, status: "PROCESSING" }, { name: "reject" }, "refund"],
    ["it is canceled while its payment has failed: refund", FAILED, { name: "cancel" }, "refund"],
    [
      "its failed payment is released: waive",
      FAILED,
      { name: "releaseHold", reasons: ["payment_failed"] },
      "waive",
    ],
    ["another hold is released: nothing", { ...REAL, holdReasons: ["x"] }, { name: "releaseHold" }, null],
    ["it is accepted: nothing", REAL, { name: "accept" }, null],
    ["its payment fails: nothing", REAL, { name: "addHold", reasons: ["payment_failed"] }, null],
    [
      "it is held for more, its payment has failed: nothing",
      FAILED,
      { name: "addHold", reasons: ["x"] },
      null,
    ],
    ["a test order is canceled: nothing", {}, { name: "cancel" }, null],
    [
      "a test order's failed payment is released: nothing",
      { holdReasons: ["payment_failed"] },
      { name: "releaseHold" },
      null,
    ],
  ])("%s", (_, fields, transition, effect) => {
    expect(effectOf(anOrder(fields), transition)).toBe(effect);
  });

  it("an order that is completed while its payment has failed still owes the payment", () => {
    const order = shippedOrder("all shipped", { ...FAILED, status: "IN_PROGRESS" });
    expect(effectOf(order, { name: "complete" })).toBeNull();
  });

  it("is refunded once: not when a shipment of the canceled order comes back", () => {
    const canceled = shippedOrder("one line shipped", { ...REAL, status: "CANCELED", canceledAt: at(-20) });
    expect(effectOf(canceled, { name: "returnShipment", shipmentId: null })).toBeNull();
    expect(effectOf(canceled, { name: "cancelByPartner" })).toBeNull();
  });
});
