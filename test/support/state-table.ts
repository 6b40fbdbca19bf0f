import { describe, expect, it } from "vitest";
import { applyTransition } from "../../src/lifecycle/lifecycle.ts";
import { ORDER_STATUSES, type Order, type OrderStatus, type Transition } from "../../src/lifecycle/order.ts";
import { NOW, type Shipped, shippedOrder } from "./lifecycle-orders.ts";

/** The transitions that a state table names by its rows. */
export const TRANSITIONS = {
  process: { name: "process" },
  accept: { name: "accept" },
  approve: { name: "approve" },
  reject: { name: "reject" },
  hold: { name: "hold", reasons: ["fraud_check"] },
  addHold: { name: "addHold", reasons: ["fraud_check"] },
  releaseHold: { name: "releaseHold" },
  ship: { name: "ship", lineIds: null, newShipmentId: "parcel-new" },
  updateShipment: { name: "updateShipment", shipmentId: "parcel-1", change: { carrier: "DHL" } },
  voidShipment: { name: "voidShipment", shipmentId: "parcel-1" },
  cancelLines: {
    name: "cancelLines",
    parts: [{ lineId: "line-2", quantity: 1, restId: "line-3" }],
    cancellationId: "cancellation-1",
  },
  returnShipment: { name: "returnShipment", shipmentId: null },
  complete: { name: "complete" },
  cancel: { name: "cancel" },
  cancelByPartner: { name: "cancelByPartner" },
} satisfies Record<string, Transition>;
type Name = keyof typeof TRANSITIONS;

/** The events of each transition when it is applied. */
const EVENTS: Record<Name, string[]> = {
  process: [],
  accept: [],
  approve: [],
  reject: ["order.canceled"],
  hold: ["order.onHold"],
  addHold: ["order.onHold"],
  releaseHold: ["order.onHoldReleased"],
  ship: ["order.shipmentCreated"],
  updateShipment: [],
  voidShipment: [],
  cancelLines: [],
  returnShipment: ["order.shipmentReturned"],
  complete: ["order.completed"],
  cancel: ["order.canceled"],
  cancelByPartner: ["order.canceled"],
};

/**
 * A column for each status, a row for each transition. A cell is the status after it, or the rule that rejects it; `=`
 * changes nothing and has no event.
 */
export type StateTable = { shipped: Shipped; holdReasons: string[]; cells: string };

/** Tests each cell of the tables. `fieldsOf` gives an order of the kind in a status. */
export function testStateTables(
  kind: string,
  tables: readonly StateTable[],
  fieldsOf: (status: OrderStatus) => Partial<Order>,
): void {
  describe.each(tables)(`${kind} with $shipped, held for $holdReasons`, ({ shipped, holdReasons, cells }) => {
    it.each(casesOf(cells))("%s: %s → %s", (status, name, result) => {
      const order = shippedOrder(shipped, { ...fieldsOf(status), status, holdReasons });
      const { testMode } = order;
      const outcome = applyTransition(order, TRANSITIONS[name], NOW);
      if (result === "=")
        return expect(outcome).toEqual({ outcome: "applied", from: order, order, facts: [] });
      if (!isStatus(result)) return expect(outcome).toEqual({ outcome: "rejected", order, rule: result });
      const events = EVENTS[name];
      expect(outcome).toMatchObject({
        outcome: "applied",
        from: order,
        order: {
          status: result,
          holdReasons: heldAfter(name, result, holdReasons, testMode),
          updatedAt: NOW,
          lastSequence: 1 + events.length,
        },
      });
      expect(outcome.outcome === "applied" && outcome.facts.map(({ type }) => type)).toEqual(events);
    });
  });
}

/** The hold reasons after a transition to a status. */
function heldAfter(
  name: Name,
  status: OrderStatus,
  before: readonly string[],
  testMode: boolean,
): readonly string[] {
  if (["COMPLETED", "CANCELED", "RETURNED"].includes(status)) return [];
  switch (name) {
    case "hold":
      return testMode ? TRANSITIONS.hold.reasons : [...before, ...TRANSITIONS.hold.reasons];
    case "addHold":
      return [...before, ...TRANSITIONS.addHold.reasons];
    case "releaseHold":
      return [];
    default:
      return before;
  }
}

/** The cells of a table as cases: status, transition, what comes of it. */
function casesOf(cells: string): [OrderStatus, Name, string][] {
  const [head = [], ...rows] = cells
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/));
  return rows.flatMap(([name = "", ...results]) => {
    expect(results, name).toHaveLength(head.length);
    expect(Object.keys(TRANSITIONS)).toContain(name);
    return results.map((result, index): [OrderStatus, Name, string] => [
      head[index] as OrderStatus, // The head row names statuses.
      name as Name, // It is a key of the transitions.
      result,
    ]);
  });
}

const isStatus = (text: string): text is OrderStatus => (ORDER_STATUSES as readonly string[]).includes(text);
