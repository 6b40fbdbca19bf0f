import { applyTransition, asOf, isChange } from "./lifecycle.ts";
import type { Order, OrderFact, OrderStatus } from "./order.ts";
import type { Transition, TransitionName, TransitionRule } from "./transition.ts";

/** The transitions that people request of a real order. */
export const REAL_ORDER_TRANSITIONS = [
  "approve",
  "reject",
  "hold",
  "releaseHold",
  "updateShippingAddress",
  "ship",
  "complete",
  "returnShipment",
  "cancel",
] as const satisfies readonly TransitionName[];

/** The transitions of a test order (specification, part 3, "Test orders"). */
export const SANDBOX_TRANSITIONS = [
  "process",
  "accept",
  "hold",
  "releaseHold",
  "ship",
  "returnShipment",
  "complete",
  "cancel",
] as const satisfies readonly TransitionName[];

export type RequestedTransitionName =
  | (typeof REAL_ORDER_TRANSITIONS)[number]
  | (typeof SANDBOX_TRANSITIONS)[number];

/** What a transition would do to an order now. */
export type PossibleTransition = {
  readonly name: RequestedTransitionName;
  /** The rule that forbids it. Null if nothing does. */
  readonly rule: TransitionRule | null;
  /** False also for a transition that is allowed, and has nothing to change. */
  readonly changes: boolean;
  /** The order's status after it; the present one if it changes nothing. */
  readonly status: OrderStatus;
  /** The types of the events that it would publish. */
  readonly eventTypes: readonly OrderFact["type"][];
};

/** Not an id of anything: nothing that is decided here is stored. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

/**
 * The lifecycle's own answer to each transition that can be requested of an order, with the arguments that restrict it
 * least: all unshipped lines, the newest shipment, all holds. A shipment is that of an order that has been routed.
 */
export const possibleTransitions = (order: Order, now: Date): PossibleTransition[] =>
  (order.testMode ? SANDBOX_TRANSITIONS : REAL_ORDER_TRANSITIONS).map((name) =>
    possibleTransition(order, name, now),
  );

/** The same for one transition. @param released the hold reasons that `releaseHold` releases */
export function possibleTransition(
  order: Order,
  name: RequestedTransitionName,
  now: Date,
  released: readonly string[] = order.holdReasons,
): PossibleTransition {
  const from = name === "ship" ? routed(asOf(order, now), now) : order;
  const outcome = applyTransition(from, sampleOf(from, name, released), now);
  const { status } = outcome.order;
  if (outcome.outcome === "rejected")
    return { name, rule: outcome.rule, changes: false, status, eventTypes: [] };
  const eventTypes = outcome.facts.map(({ type }) => type);
  return { name, rule: null, changes: isChange(outcome), status, eventTypes };
}

/** An accepted order need not wait for a worker: a request to ship it routes it first (decision 0039). */
const routed = (order: Order, now: Date): Order =>
  order.status === "ACCEPTED" ? { ...order, routedAt: order.routedAt ?? now } : order;

function sampleOf(order: Order, name: RequestedTransitionName, released: readonly string[]): Transition {
  switch (name) {
    case "hold":
      return { name, reasons: [newReason(order)] };
    case "releaseHold":
      return { name, reasons: released };
    case "ship":
      return { name, lineIds: null, newShipmentId: NO_ID };
    case "returnShipment":
      return { name, shipmentId: null };
    case "updateShippingAddress":
      return { name, change: { address1: `${order.shippingAddress.address1} ` }, isShippingPending: false };
    default:
      return { name };
  }
}

/** Longer than each reason that the order has, so it is none of them. */
const newReason = ({ holdReasons }: Order): string => `other than ${holdReasons.join()}`;
