import { describe, expect, it } from "vitest";
import { applyTransition, hasFailedPayment, isSettled } from "../../../src/lifecycle/lifecycle.ts";
import { ORDER_STATUSES, type Order, type Transition } from "../../../src/lifecycle/order.ts";
import { anOrder, NOW, REAL } from "../../support/lifecycle-orders.ts";

/** Reasons in a few letters: `p` is a failed payment. */
const reasonsOf = (letters: string): string[] =>
  [...letters].map((letter) => (letter === "p" ? "payment_failed" : letter));

type Case = [before: string, reasons: string | undefined, after: string, event: string | null];

const HOLD = "order.onHold";
const RELEASED = "order.onHoldReleased";

function expectHold(name: "hold" | "addHold" | "releaseHold", fields: Partial<Order>, row: Case): void {
  const [before, named, after, event] = row;
  const order = anOrder({ ...fields, holdReasons: reasonsOf(before) });
  const reasons = named === undefined ? {} : { reasons: reasonsOf(named) };
  const outcome = applyTransition(order, { name, ...reasons } as Transition, NOW); // Only a release may lack reasons.
  const changed = { ...order, holdReasons: reasonsOf(after), updatedAt: NOW, lastSequence: 2 };
  expect(outcome).toEqual({
    outcome: "applied",
    from: order,
    order: event === null ? order : changed,
    facts: event === null ? [] : [{ type: event }],
  });
}

describe("hold", () => {
  it.each<Case>([
    ["", "a", "a", HOLD],
    ["a", "b", "b", HOLD],
    ["a", "a", "a", HOLD],
    ["p", "a", "a", HOLD],
    ["", "aba", "ab", HOLD],
  ])("replaces the reasons of a test order: %j, hold %j, %j", (...row) => {
    expectHold("hold", {}, row);
  });

  it.each<Case>([
    ["", "a", "a", HOLD],
    ["", "aba", "ab", HOLD],
    ["ab", "c", "abc", HOLD],
    ["p", "a", "pa", HOLD],
    ["a", "p", "ap", HOLD],
    ["ab", "ba", "ab", null],
  ])("adds to the reasons of a real order: %j, hold %j, %j", (...row) => {
    expectHold("hold", REAL, row);
  });

  const reasons = (count: number) => Array.from({ length: count }, (_, at) => `reason ${at}`);

  it("is rejected for a real order with more than 40 reasons; the service can still add its own", () => {
    const full = anOrder({ ...REAL, holdReasons: reasons(39) });
    expect(applyTransition(full, { name: "hold", reasons: ["last"] }, NOW).outcome).toBe("applied");
    expect(applyTransition(full, { name: "hold", reasons: ["one", "too many"] }, NOW)).toMatchObject({
      outcome: "rejected",
      rule: "too_many_hold_reasons",
    });
    const over = anOrder({ ...REAL, holdReasons: reasons(40) });
    expect(applyTransition(over, { name: "hold", reasons: reasons(3) }, NOW).outcome).toBe("applied");
    expect(applyTransition(over, { name: "addHold", reasons: ["out_of_stock"] }, NOW)).toMatchObject({
      order: { holdReasons: [...reasons(40), "out_of_stock"] },
    });
  });
});

describe("addHold", () => {
  it.each<Case>([
    ["", "a", "a", HOLD],
    ["a", "b", "ab", HOLD],
    ["ab", "bca", "abc", HOLD],
    ["a", "a", "a", null],
    ["ab", "ba", "ab", null],
    ["a", "", "a", null],
    ["p", "a", "pa", HOLD],
  ])("keeps the reasons and adds new ones: %j, add %j, %j", (...row) => {
    expectHold("addHold", REAL, row);
    expectHold("addHold", {}, row);
  });
});

describe("releaseHold", () => {
  it.each<Case>([
    ["", undefined, "", null],
    ["ab", undefined, "", RELEASED],
    ["p", undefined, "", RELEASED],
    ["ap", undefined, "", RELEASED],
    ["ap", "a", "p", HOLD],
  ])("of a test order releases all reasons, or the named ones: %j, release %j, %j", (...row) => {
    expectHold("releaseHold", {}, row);
  });

  it.each<Case>([
    ["", undefined, "", null],
    ["ab", undefined, "", RELEASED],
    ["p", undefined, "p", null],
    ["apb", undefined, "p", HOLD],
    ["p", "p", "", RELEASED],
    ["ap", "p", "a", HOLD],
    ["ap", "a", "p", HOLD],
    ["ab", "c", "ab", null],
    ["ab", "", "ab", null],
  ])("of a real order keeps a failed payment that is not named: %j, release %j, %j", (...row) => {
    expectHold("releaseHold", REAL, row);
  });
});

describe("a settled order", () => {
  it.each([
    ["cancel", "NEW"],
    ["reject", "PROCESSING"],
  ] as const)("has no holds after %s", (name, status) => {
    const order = anOrder({ ...REAL, status, holdReasons: reasonsOf("ap") });
    expect(applyTransition(order, { name }, NOW).order.holdReasons).toEqual([]);
  });

  it("is COMPLETED, CANCELED or RETURNED", () => {
    expect(ORDER_STATUSES.filter((status) => isSettled({ status }))).toEqual([
      "COMPLETED",
      "CANCELED",
      "RETURNED",
    ]);
  });
});

it("a failed payment is the reason payment_failed, at any position", () => {
  for (const letters of ["p", "ap", "pa"])
    expect(hasFailedPayment({ holdReasons: reasonsOf(letters) })).toBe(true);
  for (const letters of ["", "a"]) expect(hasFailedPayment({ holdReasons: reasonsOf(letters) })).toBe(false);
});
