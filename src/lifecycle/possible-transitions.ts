import { type Actor, SERVICE, type TimelineEntry } from "./applied-transition.ts";
import { applyTransition, asOf, isChange } from "./lifecycle.ts";
import {
  type LinePart,
  MERCHANT_REQUEST,
  type Order,
  type OrderFact,
  type OrderStatus,
  PAYMENT_FAILED,
  type Transition,
  type TransitionName,
  type TransitionRule,
} from "./order.ts";
import { isOpen, shipmentsOut } from "./parts.ts";

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
  "cancelLines",
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

/** The effect of a transition on an order now. */
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
 * least: all unshipped lines, the newest shipment, all holds. A shipment is that of an order that has been routed. Lines are canceled
 * as far as something of the order is left.
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

/**
 * An accepted order need not wait for a worker: a request to ship it routes it first (docs/design/lifecycle.md, "The chart").
 */
export const routed = (order: Order, now: Date): Order =>
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
    case "cancelLines":
      return { name, parts: partsToCancel(order), cancellationId: NO_ID };
    case "updateShippingAddress":
      return { name, change: { address1: `${order.shippingAddress.address1} ` }, isShippingPending: false };
    default:
      return { name };
  }
}

/** All that has not shipped, or one unit of it if nothing has. */
const partsToCancel = (order: Order): readonly LinePart[] =>
  shipmentsOut(order).length > 0
    ? order.lines.filter(isOpen).map(({ id: lineId, quantity }) => ({ lineId, quantity, restId: NO_ID }))
    : order.lines
        .filter(isOpen)
        .slice(-1)
        .map(({ id: lineId }) => ({ lineId, quantity: 1, restId: NO_ID }));

/** Longer than each reason that the order has, so it is none of them. */
const newReason = ({ holdReasons }: Order): string => `other than ${holdReasons.join()}`;

/** A reason for which an order is on hold. */
export type Hold = {
  readonly reason: string;
  /** When the reason was placed that has been present since without interruption. */
  readonly since: Date;
  /** The actor that placed it then. */
  readonly placedBy: Actor;
};

/**
 * The holds of an order, with who placed each reason: the timeline remembers it.
 * @param timeline all entries of the order, oldest first
 */
export const holdsOf = (
  order: Pick<Order, "holdReasons" | "updatedAt">,
  timeline: readonly TimelineEntry[],
): Hold[] =>
  order.holdReasons.map((reason) => {
    const newestWithout = timeline.findLastIndex((entry) => !entry.holdReasons.includes(reason));
    const placement = timeline[newestWithout + 1];
    return {
      reason,
      since: placement?.createdAt ?? order.updatedAt,
      placedBy: placement?.actor ?? SERVICE,
    };
  });

/**
 * Whether a person of this kind may release the reason (docs/design/lifecycle.md, "Holds"): the operator may release any,
 * others what their own kind has placed. A merchant's request is always the merchant's. This does not apply to payments and
 * routing, which release their own reasons.
 */
export function mayRelease({ reason, placedBy }: Hold, kind: Actor["kind"]): boolean {
  if (kind === "operator") return true;
  if (reason === PAYMENT_FAILED) return false;
  return kind === placedBy.kind || (kind === "merchant" && reason === MERCHANT_REQUEST);
}

/** The reasons that a person of one kind may release. */
export type ReleasableReasons = {
  /** The reasons that a request without names releases. */
  readonly released: readonly string[];
  /** The reasons that a request must name: a failed payment, because its release waives the charge. */
  readonly toName: readonly string[];
};

export function releasableReasons(holds: readonly Hold[], kind: Actor["kind"]): ReleasableReasons {
  const releasable = holds.filter((hold) => mayRelease(hold, kind)).map(reasonOf);
  return {
    released: releasable.filter((reason) => reason !== PAYMENT_FAILED),
    toName: releasable.filter((reason) => reason === PAYMENT_FAILED),
  };
}

/** The reasons that a request releases: the named ones, or all that the caller may release without naming them. */
export function reasonsToRelease(
  holds: readonly Hold[],
  named: readonly string[] | undefined,
  kind: Actor["kind"],
): { readonly released: readonly string[]; readonly forbidden: readonly string[] } {
  if (named === undefined) return { released: releasableReasons(holds, kind).released, forbidden: [] };
  const wanted = holds.filter(({ reason }) => named.includes(reason));
  const forbidden = wanted.filter((hold) => !mayRelease(hold, kind));
  return { released: wanted.map(reasonOf), forbidden: forbidden.map(reasonOf) };
}

const reasonOf = ({ reason }: Hold): string => reason;
