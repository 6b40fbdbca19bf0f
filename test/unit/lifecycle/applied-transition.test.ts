import { expect, it } from "vitest";
import { PARTNER, SERVICE } from "../../../src/lifecycle/applied-transition.ts";
import { acceptanceOf, appliedTransitions, applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import { anOrder, at } from "../../support/lifecycle-orders.ts";

const CAUSE = { actor: { kind: "operator", name: "Ada" }, operation: "cancel", detail: "Why." } as const;
const due = anOrder({ testMode: false, expiresAt: null, acceptanceDueAt: at(0) });

it("an outcome is one transition, by the actor that requested it", () => {
  const outcome = applyTransition(due, { name: "cancelByPartner" }, at(-1));
  expect(appliedTransitions(due, outcome, CAUSE)).toEqual([
    { ...CAUSE, before: due, after: outcome.order, facts: [{ type: "order.canceled" }] },
  ]);
});

it("an acceptance by the deadline comes before it", () => {
  const outcome = applyTransition(due, { name: "hold", reasons: ["x"] }, at(1));
  const [acceptance, hold, ...others] = appliedTransitions(due, outcome, CAUSE);
  expect(acceptance).toMatchObject({ actor: SERVICE, operation: "accept", before: due, facts: [] });
  expect(acceptance?.after).toMatchObject({ status: "ACCEPTED", holdReasons: [], updatedAt: at(0) });
  expect(hold).toMatchObject({ ...CAUSE, after: outcome.order, facts: [{ type: "order.onHold" }] });
  expect(hold?.before).toBe(acceptance?.after);
  expect(others).toEqual([]);
});

it("a rejection leaves the acceptance alone", () => {
  const outcome = applyTransition(due, { name: "cancelByPartner" }, at(0));
  expect(outcome.outcome).toBe("rejected");
  expect(appliedTransitions(due, outcome, CAUSE)).toEqual([acceptanceOf(due, at(0))]);
});

it("an outcome without a change is no transition", () => {
  const test = anOrder({ status: "COMPLETED" });
  expect(appliedTransitions(test, applyTransition(test, { name: "cancel" }, at(0)), CAUSE)).toEqual([]);
  const held = anOrder({ holdReasons: ["x"] });
  const again = applyTransition(held, { name: "addHold", reasons: ["x"] }, at(0));
  expect(again.outcome).toBe("applied");
  expect(appliedTransitions(held, again, CAUSE)).toEqual([]);
});

it("a partner is recorded without a name, which its connection gives", () => {
  expect(PARTNER).toEqual({ kind: "partner", name: null });
});

it("the deadline makes an acceptance by the service, and none before its time", () => {
  expect(acceptanceOf(due, at(-1))).toBeNull();
  expect(acceptanceOf(due, at(0))).toEqual({
    actor: { kind: "service", name: null },
    operation: "accept",
    before: due,
    after: { ...due, status: "ACCEPTED", updatedAt: at(0) },
    facts: [],
  });
});
