import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyTransition, asOf, isSettled, type Outcome } from "../../../src/lifecycle/lifecycle.ts";
import {
  ORDER_STATUSES,
  type Order,
  type OrderStatus,
  type Transition,
} from "../../../src/lifecycle/order.ts";
import { SANDBOX_TRANSITIONS } from "../../../src/lifecycle/possible-transitions.ts";
import { optInsOf } from "../../../src/orders/changes/order-events.ts";
import { SANDBOX_RULES } from "../../../src/orders/changes/transition-order.ts";
import { describeLifecycle } from "../../../src/orders/reading/describe-lifecycle.ts";
import { anOrder, at, REAL } from "../../support/lifecycle-orders.ts";

const reasons = fc.array(fc.constantFrom("out_of_stock", "payment_failed", "merchant_request"), {
  maxLength: 3,
});
const shipmentId = fc.constantFrom("parcel-0", "parcel-1", "parcel-2");
const anyTransition: fc.Arbitrary<Transition> = fc.oneof(
  fc.record({
    name: fc.constantFrom("process", "accept", "complete", "cancel", "approve", "reject", "cancelByPartner"),
  }),
  fc.record({ name: fc.constantFrom("hold", "addHold"), reasons }),
  fc.record({ name: fc.constant("releaseHold"), reasons }, { requiredKeys: ["name"] }),
  fc.record({
    name: fc.constant("ship"),
    lineIds: fc.option(fc.subarray(["line-1", "line-2"])),
    newShipmentId: fc.constant("named below"),
  }),
  fc.record({
    name: fc.constant("updateShipment"),
    shipmentId,
    change: fc.record({
      carrier: fc.constantFrom(null, "DHL"),
      status: fc.constantFrom("shipped", "delivered"),
    }),
  }),
  fc.record({ name: fc.constant("voidShipment"), shipmentId }),
  fc.record({
    name: fc.constant("cancelLines"),
    parts: fc.subarray([
      { lineId: "line-1", quantity: 1, restId: "named below" },
      { lineId: "line-2", quantity: 1, restId: "named below" },
      { lineId: "line-3", quantity: 1, restId: "named below" },
    ]),
    cancellationId: fc.constant("cancellation"),
  }),
  fc.record({ name: fc.constant("returnShipment"), shipmentId: fc.option(shipmentId) }),
);
/** An order, and what happens to it at which minute; the acceptance window ends at minute 60. */
const anyLife = fc.record({
  order: fc.constantFrom(
    anOrder(),
    anOrder(REAL),
    anOrder({ ...REAL, status: "PROCESSING", acceptanceDueAt: null }),
  ),
  changes: fc.array(fc.tuple(anyTransition, fc.integer({ min: 0, max: 30 })), { maxLength: 12 }),
});

type Change = { before: Order; transition: Transition; now: Date; outcome: Outcome };

/** New lines and shipments have ids of their own. */
function named(drawn: Transition, newShipmentId: string, { lines }: Order): Transition {
  if (drawn.name === "ship") return { ...drawn, newShipmentId };
  if (drawn.name !== "cancelLines") return drawn;
  const parts = drawn.parts.map((part, index) => ({ ...part, restId: `line-${lines.length + index + 1}` }));
  return { ...drawn, parts };
}

function live({ order, changes }: { order: Order; changes: [Transition, number][] }): Change[] {
  let current = order;
  let minute = 0;
  return changes.map(([drawn, minutes]) => {
    const newShipmentId = `parcel-${current.shipments.length}`;
    const transition = named(drawn, newShipmentId, current);
    minute += minutes;
    const before = current;
    const outcome = applyTransition(before, transition, at(minute));
    current = outcome.order;
    return { before, transition, now: at(minute), outcome };
  });
}

/** Holds for each change in the life of any order. */
const always = (title: string, check: (change: Change) => void): void =>
  it(title, () => {
    fc.assert(
      fc.property(anyLife, (life) => live(life).forEach(check)),
      { numRuns: 300 },
    );
  });

describe("any history of an order", () => {
  always("a rejected transition leaves it as it stood at that moment", ({ before, now, outcome }) => {
    if (outcome.outcome === "rejected") expect(outcome.order).toEqual(asOf(before, now));
  });

  always(
    "each event has the next sequence, and a change shows in it or in a later time of the change",
    ({ now, outcome }) => {
      if (outcome.outcome === "rejected") return;
      const { from, order, facts } = outcome;
      expect(order.lastSequence).toBe(from.lastSequence + facts.length);
      if (order === from) return;
      const earliest = from.updatedAt.getTime() + (facts.length === 0 ? 1 : 0);
      expect(order.updatedAt.getTime()).toBe(Math.max(now.getTime(), earliest));
    },
  );

  always("a settled order has no hold, and its status changes only to RETURNED", ({ before, outcome }) => {
    if (isSettled(outcome.order)) expect(outcome.order.holdReasons).toEqual([]);
    if (isSettled(before)) expect([before.status, "RETURNED"]).toContain(outcome.order.status);
  });

  always("an order on hold does not ship", ({ before, now, transition, outcome }) => {
    if (transition.name !== "ship" || asOf(before, now).holdReasons.length === 0) return;
    expect(outcome.outcome).toBe("rejected");
  });

  always("it is COMPLETED only when each line has a shipment or is canceled", ({ outcome: { order } }) => {
    if (order.status !== "COMPLETED") return;
    expect(order.lines.every((line) => line.shipmentId !== null || line.cancellationId !== null)).toBe(true);
    expect(order.lines.some((line) => line.shipmentId !== null)).toBe(true);
  });

  always(
    "its units stay, and a line that is canceled stays so and never ships",
    ({ before, outcome: { order } }) => {
      const units = ({ lines }: Order) => lines.reduce((sum, { quantity }) => sum + quantity, 0);
      expect(units(order)).toBe(units(before));
      for (const line of before.lines.filter(({ cancellationId }) => cancellationId !== null))
        expect(order.lines).toContainEqual({ ...line, shipmentId: null });
    },
  );

  always(
    "lines stay in the shipment that covers them until it is voided, and shipments stay",
    ({ before, outcome: { order } }) => {
      const ids = order.shipments.map(({ id }) => id);
      expect(ids.slice(0, before.shipments.length)).toEqual(before.shipments.map(({ id }) => id));
      const voided = order.shipments.filter(({ status }) => status === "voided").map(({ id }) => id);
      const covering = new Set(order.lines.flatMap((line) => line.shipmentId ?? []));
      expect(ids.length - voided.length).toBe(covering.size);
      const after = new Map(order.lines.map((line) => [line.id, line]));
      for (const line of before.lines)
        if (line.shipmentId !== null && !voided.includes(line.shipmentId))
          expect({ ...after.get(line.id), returnedQuantity: line.returnedQuantity }).toEqual(line);
    },
  );

  always("a shipment that came back or was voided stays so", ({ before, outcome: { order } }) => {
    for (const [index, shipment] of before.shipments.entries())
      if (shipment.status === "returned" || shipment.status === "voided")
        expect(order.shipments[index]).toEqual(shipment);
  });

  always("it keeps the time of its cancellation", ({ before, now, outcome: { order } }) => {
    const isNew = order.status === "CANCELED" && before.status !== "CANCELED";
    expect(order.canceledAt).toEqual(isNew ? now : before.canceledAt);
  });
});

describe("the status of a real order", () => {
  const NEXT: Record<OrderStatus, OrderStatus[]> = {
    NEW: ["ACCEPTED", "CANCELED"],
    PROCESSING: ["ACCEPTED", "CANCELED"],
    ACCEPTED: ["IN_PROGRESS", "CANCELED"],
    IN_PROGRESS: ["COMPLETED", "CANCELED", "RETURNED"],
    COMPLETED: ["RETURNED"],
    CANCELED: ["RETURNED"],
    RETURNED: [],
  };

  always("follows the chart", ({ before, outcome }) => {
    if (before.testMode || outcome.outcome === "rejected") return;
    const { from, order } = outcome;
    expect([from.status, ...NEXT[from.status]]).toContain(order.status);
    expect(ORDER_STATUSES.indexOf(order.status)).toBeGreaterThanOrEqual(ORDER_STATUSES.indexOf(from.status));
  });

  always(
    "is never NEW after the window, unless its payment failed",
    ({ before, now, outcome: { order } }) => {
      if (before.testMode || order.status !== "NEW" || now < at(60)) return;
      expect(order.holdReasons).toContain("payment_failed");
    },
  );
});

const describedOf = ({ testMode }: Order, { name }: Transition) =>
  describeLifecycle()[testMode ? "testOrders" : "realOrders"].find(
    ({ transition }) => transition === (name === "addHold" ? "hold" : name),
  );

/** Whether the order of this kind can meet the transition: the sandbox has no holds that are added, or released one by one. */
const canMeet = (order: Order, transition: Transition): boolean =>
  describedOf(order, transition) !== undefined &&
  !(transition.name === "hold" && transition.reasons.length === 0) &&
  !(order.testMode && transition.name === "addHold") &&
  !(order.testMode && transition.name === "releaseHold" && transition.reasons !== undefined);

describe("the lifecycle as data", () => {
  it("has each decision about any order", () => {
    const withoutDeadline = anyLife.map(({ order, changes }) => ({
      order: { ...order, acceptanceDueAt: null },
      changes: changes.filter(([transition]) => canMeet(order, transition)),
    }));
    const seen = new Set<string>();
    fc.assert(
      fc.property(withoutDeadline, (life) => {
        for (const { before, transition, outcome } of live(life)) {
          const own = describedOf(before, transition);
          // Requests name shipments that exist.
          const shipmentId = "shipmentId" in transition ? transition.shipmentId : null;
          const isUnknown = shipmentId !== null && before.shipments.every(({ id }) => id !== shipmentId);
          if (own === undefined || isUnknown) continue;
          const from = expect.arrayContaining([before.status]);
          seen.add(`${transition.name} ${outcome.outcome}`);
          if (outcome.outcome === "rejected") {
            const { rule } = outcome;
            if (own.by.includes("partner")) expect(own.rejections).toContainEqual({ rule, from });
            continue;
          }
          const { order, facts } = outcome;
          const eventTypes = [...new Set(facts.map(({ type }) => type))];
          const to = order.status === before.status ? null : order.status;
          const optIns = order === before ? [] : optInsOf({ before, after: order });
          expect(own.effects).toContainEqual({
            from,
            to,
            eventTypes,
            onlyOnHoldFor: expect.toSatisfy(
              (reason) => reason === null || before.holdReasons.includes(reason),
            ),
            optInEventTypes: expect.arrayContaining(optIns.map(({ type }) => type)),
          });
        }
      }),
      { numRuns: 300 },
    );
    expect(seen).toContain("returnShipment applied");
    expect(seen).toContain("voidShipment applied");
    expect(seen.size).toBeGreaterThan(20);
  });

  it("names as rejections what the rules of test orders are, and nothing else", () => {
    const rules = describeLifecycle().testOrders.flatMap(({ rejections }) =>
      rejections.map(({ rule }) => rule),
    );
    expect(new Set(rules)).toEqual(new Set([...SANDBOX_RULES, "not_cancelable"]));
  });

  it("a test order has the transitions of the sandbox, its tracking, and its partner's cancel", () => {
    const names = describeLifecycle().testOrders.map(({ transition }) => transition);
    expect(new Set(names)).toEqual(new Set([...SANDBOX_TRANSITIONS, "updateShipment", "cancelByPartner"]));
  });
});
