import { describe, expect, it } from "vitest";
import {
  acceptanceOf,
  appliedTransitions,
  PARTNER,
  SERVICE,
} from "../../../src/lifecycle/applied-transition.ts";
import { applyTransition } from "../../../src/lifecycle/lifecycle.ts";
import type { Order } from "../../../src/lifecycle/order.ts";
import type { Transition } from "../../../src/lifecycle/transition.ts";
import { anOrder, at, NOW, REAL } from "../../support/lifecycle-orders.ts";

const CAUSE = { actor: PARTNER, operation: "requested", detail: "as agreed" };
const recorded = (order: Order, transition: Transition) =>
  appliedTransitions(order, applyTransition(order, transition, NOW), CAUSE);
const acceptance = (before: Order) => ({
  ...{ actor: SERVICE, operation: "accept", facts: [] },
  ...{ before, after: { ...before, status: "ACCEPTED", updatedAt: before.acceptanceDueAt } },
});
const due = anOrder({ ...REAL, acceptanceDueAt: at(-1) });

/** Decision 0039: each transition is on record, with who caused it. */
describe("what is recorded of an outcome", () => {
  it("is the requested transition, with its cause and its events", () => {
    const order = anOrder(REAL);
    const { order: after } = applyTransition(order, { name: "cancel" }, NOW);
    expect(recorded(order, { name: "cancel" })).toEqual([
      { ...CAUSE, before: order, after, facts: [{ type: "order.canceled" }] },
    ]);
  });

  it("is the acceptance that the deadline had made before it, by the service, without events", () => {
    const transitions = recorded(due, { name: "hold", reasons: ["x"] });
    const accepted = { ...due, status: "ACCEPTED", updatedAt: at(-1) };
    expect(transitions).toEqual([
      acceptance(due),
      { ...CAUSE, before: accepted, after: transitions[1]?.after, facts: [{ type: "order.onHold" }] },
    ]);
    expect(transitions[1]?.after).toMatchObject({ status: "ACCEPTED", holdReasons: ["x"] });
  });

  it("is that acceptance alone when the request is rejected", () => {
    expect(recorded(due, { name: "cancelByPartner" })).toEqual([acceptance(due)]);
  });

  it("is nothing when the request changed nothing, or was rejected", () => {
    expect(recorded(anOrder(REAL), { name: "releaseHold" })).toEqual([]);
    expect(recorded(anOrder(REAL), { name: "approve" })).toEqual([]);
  });
});

describe("the acceptance by the deadline", () => {
  it("is at the deadline, and not before", () => {
    const order = anOrder({ ...REAL, acceptanceDueAt: NOW });
    expect(acceptanceOf(order, new Date(NOW.getTime() - 1))).toBeNull();
    expect(acceptanceOf(order, NOW)).toEqual(acceptance(order));
  });
});
