import { describe, expect, it } from "vitest";
import {
  applyTransition,
  asOf,
  cancelableUntil,
  isCancelableByPartner,
  isExpired,
} from "../../../src/lifecycle/lifecycle.ts";
import type { Order, OrderStatus } from "../../../src/lifecycle/order.ts";
import { anOrder, at, NOW } from "../../support/lifecycle-orders.ts";

describe("acceptance of a real order: the deadline decides, not the timer", () => {
  const real = (fields: Partial<Order> = {}) =>
    anOrder({ testMode: false, expiresAt: null, acceptanceDueAt: at(0), ...fields });

  it.each<[string, Partial<Order>, number, OrderStatus]>([
    ["before the deadline", {}, -1 / 60_000, "NEW"],
    ["at the deadline", {}, 0, "ACCEPTED"],
    ["after the deadline", {}, 60, "ACCEPTED"],
    ["held for another reason: a hold does not stop acceptance", { holdReasons: ["x"] }, 0, "ACCEPTED"],
    ["payment failed: acceptance is suspended", { holdReasons: ["payment_failed"] }, 600, "NEW"],
    ["payment failed among others", { holdReasons: ["x", "payment_failed"] }, 600, "NEW"],
    ["PROCESSING never had a window", { status: "PROCESSING", acceptanceDueAt: null }, 600, "PROCESSING"],
    ["CANCELED stays so", { status: "CANCELED" }, 600, "CANCELED"],
    ["a test order is never accepted automatically", { acceptanceDueAt: null, testMode: true }, 600, "NEW"],
  ])("%s", (_title, fields, minutes, status) => {
    const order = real(fields);
    const seen = asOf(order, at(minutes));
    expect(seen.status).toBe(status);
    if (status === order.status) expect(seen).toBe(order);
  });

  it("uses the time of the deadline, not of the first read after it", () => {
    expect(asOf(real(), at(500)).updatedAt).toEqual(at(0));
  });

  it.each<[string, Partial<Order>, number, boolean]>([
    ["NEW, a moment before the deadline", {}, -1 / 60_000, true],
    ["NEW, at the deadline", {}, 0, false],
    ["NEW and held, before the deadline", { holdReasons: ["out_of_stock"] }, -1, true],
    ["NEW and held, after the deadline", { holdReasons: ["out_of_stock"] }, 1, false],
    ["payment failed, long after the deadline", { holdReasons: ["payment_failed"] }, 9_999, true],
    ["PROCESSING", { status: "PROCESSING", acceptanceDueAt: null }, -1, false],
    ["ACCEPTED", { status: "ACCEPTED" }, -1, false],
    [
      "ACCEPTED, payment failed afterwards",
      { status: "ACCEPTED", holdReasons: ["payment_failed"] },
      60,
      true,
    ],
    ["IN_PROGRESS", { status: "IN_PROGRESS" }, -1, false],
    ["COMPLETED", { status: "COMPLETED" }, -1, false],
    ["RETURNED", { status: "RETURNED" }, -1, false],
  ])("a partner's cancel: %s", (_title, fields, minutes, cancelable) => {
    const order = real(fields);
    const now = at(minutes);
    const outcome = applyTransition(order, { name: "cancelByPartner" }, now);
    expect(outcome.order.status === "CANCELED").toBe(cancelable);
    expect(isCancelableByPartner(order, now)).toBe(cancelable);
    const until = cancelableUntil(asOf(order, now));
    if (cancelable) expect(until?.getTime()).toBeGreaterThan(now.getTime());
    else expect(until).toBeNull();
  });

  it("a cancel that comes too late accepts the order at once, and publishes nothing", () => {
    const outcome = applyTransition(real(), { name: "cancelByPartner" }, at(1));
    const order = { status: "ACCEPTED", updatedAt: at(0), lastSequence: 1 };
    expect(outcome).toMatchObject({ outcome: "rejected", rule: "not_cancelable", order });
  });

  it("a repeated cancel returns the canceled order and publishes nothing", () => {
    const order = real({ status: "CANCELED" });
    const outcome = applyTransition(order, { name: "cancelByPartner" }, at(1));
    expect(outcome).toEqual({ outcome: "applied", from: order, order, facts: [] });
  });

  it("paying before the deadline leaves the order NEW; after it, the order is accepted at once", () => {
    const order = real({ holdReasons: ["payment_failed"] });
    const pay = (minutes: number) =>
      applyTransition(order, { name: "releaseHold", reasons: ["payment_failed"] }, at(minutes)).order;
    expect(pay(-1)).toMatchObject({ status: "NEW", holdReasons: [] });
    expect(pay(1)).toMatchObject({ status: "ACCEPTED", holdReasons: [], updatedAt: at(1) });
  });

  it("a failed payment found after the deadline does not make an accepted order NEW again", () => {
    const outcome = applyTransition(real(), { name: "hold", reasons: ["payment_failed"] }, at(1));
    expect(outcome.order).toMatchObject({ status: "ACCEPTED", holdReasons: ["payment_failed"] });
  });
});

describe("the lifetime of a test order", () => {
  it.each([
    [-1, false],
    [0, true],
    [1, true],
  ])("%d ms from its end: expired is %s", (ms, expired) => {
    expect(isExpired({ expiresAt: NOW }, new Date(NOW.getTime() + ms))).toBe(expired);
  });

  it("a real order has none", () => {
    expect(isExpired({ expiresAt: null }, new Date("9999-01-01T00:00:00Z"))).toBe(false);
  });

  it("it can be canceled until its end while it is NEW", () => {
    expect(cancelableUntil(anOrder())).toEqual(at(60));
    expect(cancelableUntil(anOrder({ status: "ACCEPTED" }))).toBeNull();
  });
});
