import {
  type Acceptance,
  type AppliedTransition,
  SERVICE,
  type TransitionCause,
} from "./applied-transition.ts";
import {
  HOLD_REASONS_MAX,
  ORDER_STATUSES,
  type Order,
  type OrderFact,
  type OrderState,
  type OrderStatus,
  PAYMENT_FAILED,
  type Transition,
  type TransitionName,
  type TransitionRule,
} from "./order.ts";
import {
  allShipped,
  cancelLines,
  changeShipment,
  correctAddress,
  isOpen,
  LINES_MAX,
  newShipment,
  returnUnits,
  shipmentsOut,
  splitLines,
  voidShipment,
} from "./parts.ts";

export type Outcome =
  /** `from` is the order before the transition. If the transition changes nothing, `order` is the same object. */
  | {
      readonly outcome: "applied";
      readonly from: Order;
      readonly order: Order;
      readonly facts: readonly OrderFact[];
    }
  /** `order` is the order at that moment: the deadline may have accepted it. */
  | { readonly outcome: "rejected"; readonly order: Order; readonly rule: TransitionRule };

/** True if the transition is allowed and changes the order. */
export const isChange = (outcome: Outcome): boolean =>
  outcome.outcome === "applied" && outcome.order !== outcome.from;

export const isSettled = (order: Pick<Order, "status">): boolean => SETTLED_STATUSES.includes(order.status);

/** docs/design/lifecycle.md, "A failed payment is a hold": a failed payment is a hold with this reason. */
export const hasFailedPayment = (order: Pick<Order, "holdReasons">): boolean =>
  order.holdReasons.includes(PAYMENT_FAILED);

/**
 * True if the order was ever canceled. It stays true if a shipment comes back and the status becomes RETURNED. Nothing
 * is owed for such an order.
 */
export const wasCanceled = (order: Pick<Order, "canceledAt">): boolean => order.canceledAt !== null;

/** An expired test order does not exist any more, whether or not it has been erased (specification, part 3, rule 4). */
export const isExpired = (order: Pick<Order, "expiresAt">, now: Date): boolean =>
  order.expiresAt !== null && now >= order.expiresAt;

/** The fields of an order that the deadline depends on. */
export type TimedOrder = Pick<Order, "status" | "holdReasons" | "acceptanceDueAt" | "updatedAt">;

/**
 * The order as it is at `now`. The deadline accepts it, not the timer (docs/design/lifecycle.md, "The deadline decides"). A
 * failed payment suspends acceptance. Test orders are never accepted automatically.
 */
export function asOf<T extends TimedOrder>(order: T, now: Date): T {
  const due = order.acceptanceDueAt;
  if (order.status !== "NEW" || due === null || now < due || hasFailedPayment(order)) return order;
  return { ...order, status: ORDER_CHART.accept.to ?? order.status, updatedAt: changedAt(order, due, []) };
}

/**
 * The `updatedAt` of an order that changes at `now`: never earlier than before, whatever the clocks say, and later if nothing
 * else tells that it changed. Of two copies with the same `sequence`, the one with the later `updatedAt` is the newer one
 * (docs/design/event-feed.md, "Sequence").
 */
const changedAt = ({ updatedAt }: Pick<Order, "updatedAt">, now: Date, facts: readonly OrderFact[]): Date =>
  new Date(Math.max(now.getTime(), updatedAt.getTime() + (facts.length === 0 ? 1 : 0)));

export const isCancelableByPartner = (order: Order, now: Date): boolean =>
  barredBy(asOf(order, now), "cancelByPartner") === null;

/**
 * The only function that decides about changes of status. The sandbox, the partner's cancel, the warehouse and the timers all
 * use it. Specification, part 3; docs/design/lifecycle.md.
 */
export function applyTransition(stored: Order, transition: Transition, now: Date): Outcome {
  const order = asOf(stored, now);
  const rejected = (rule: TransitionRule): Outcome => ({ outcome: "rejected", order, rule });
  const nothing: Outcome = { outcome: "applied", from: order, order, facts: [] };
  const apply = (change: Partial<Order>, ...facts: OrderFact[]): Outcome => {
    const status = ORDER_CHART[transition.name].to ?? order.status;
    const canceledAt = status === "CANCELED" && order.status !== "CANCELED" ? now : order.canceledAt;
    const lastSequence = order.lastSequence + facts.length;
    // If the hold for a failed payment is released after the deadline, the order is accepted at once.
    const changed = asOf(settle({ ...order, status, canceledAt, ...change, lastSequence }), now);
    const updatedAt = changedAt(order, now, facts);
    return { outcome: "applied", from: order, order: { ...changed, updatedAt }, facts };
  };

  // Retries are safe.
  if (transition.name === "cancelByPartner" && order.status === "CANCELED") return nothing;
  if (transition.name === "voidShipment" && isVoided(order, transition.shipmentId)) return nothing;
  const barred = barredBy(order, transition.name);
  if (barred !== null) return rejected(barred);

  switch (transition.name) {
    case "process":
    case "accept":
    case "approve":
      return apply({});
    case "hold":
    case "addHold": {
      const holdReasons = reasonsAfter(order, transition);
      if (holdReasons === order.holdReasons) return nothing;
      if (transition.name === "hold" && holdReasons.length > HOLD_REASONS_MAX)
        return rejected("too_many_hold_reasons");
      return apply({ holdReasons }, { type: "order.onHold" });
    }
    case "releaseHold": {
      const left = order.holdReasons.filter((reason) => !isReleased(order, reason, transition.reasons));
      if (left.length === order.holdReasons.length) return nothing;
      return apply({ holdReasons: left }, ...releaseFacts(order, { holdReasons: left }));
    }
    case "updateShippingAddress": {
      const corrected = correctAddress(order, transition);
      if (typeof corrected === "string") return rejected(corrected);
      return corrected === null ? nothing : apply(corrected, ...releaseFacts(order, corrected));
    }
    case "ship": {
      const shipped = shipLines(order, transition, now);
      if (typeof shipped === "string") return rejected(shipped);
      return apply(shipped, { type: "order.shipmentCreated", shipmentId: transition.newShipmentId });
    }
    case "updateShipment": {
      const shipments = changeShipment(order.shipments, transition, now);
      if (shipments === null) return rejected("no_shipment_out");
      return shipments === order.shipments ? nothing : apply({ shipments });
    }
    case "voidShipment": {
      const voided = voidShipment(order, transition.shipmentId);
      return typeof voided === "string" ? rejected(voided) : apply(voided);
    }
    case "cancelLines": {
      const lines = cancelLines(order, transition);
      if (typeof lines === "string") return rejected(lines);
      if (lines.some(isOpen)) return apply({ lines });
      // Nothing is left to ship, so the order is complete (docs/design/lifecycle.md, "Canceled lines").
      const completed = { status: "COMPLETED", shipments: allShipped(order.shipments, now) } as const;
      return apply({ lines, ...completed }, { type: "order.completed" });
    }
    case "returnShipment": {
      const returned = afterReturn(order, transition);
      return returned === null ? rejected("no_shipment_out") : apply(returned.change, ...returned.facts);
    }
    case "complete":
      if (order.lines.some(isOpen)) return rejected("unshipped_lines");
      return apply({ shipments: allShipped(order.shipments, now) }, { type: "order.completed" });
    case "reject":
    case "cancel":
    case "cancelByPartner":
      return apply({}, { type: "order.canceled" });
    default:
      return transition satisfies never;
  }
}

const isVoided = ({ shipments }: Order, shipmentId: string): boolean =>
  shipments.some(({ id, status }) => id === shipmentId && status === "voided");

/**
 * The acceptance that the deadline has caused by `now` (docs/design/lifecycle.md, "The deadline decides"). Null if there is
 * none.
 */
export function acceptanceOf<Read extends OrderState>(order: Read, now: Date): Acceptance<Read> | null {
  const after = asOf(order, now);
  return after === order ? null : acceptance(order, after);
}

const acceptance = <Read extends OrderState>(before: Read, after: Read): Acceptance<Read> => ({
  actor: SERVICE,
  operation: "accept",
  before,
  after,
  facts: [],
});

/**
 * The transitions to store for an outcome: the requested one and, before it, an acceptance by the deadline that is not
 * stored yet. A rejected transition can leave such an acceptance. An outcome that changes nothing leaves no transition.
 */
export function appliedTransitions(
  stored: Order,
  outcome: Outcome,
  cause: TransitionCause,
): AppliedTransition[] {
  const [from, facts] = outcome.outcome === "applied" ? [outcome.from, outcome.facts] : [outcome.order, []];
  return [
    ...(from === stored ? [] : [acceptance(stored, from)]),
    ...(outcome.order === from ? [] : [{ ...cause, before: from, after: outcome.order, facts }]),
  ];
}

/**
 * The rule that forbids the transition in the order's present state, whatever its other arguments. Null if there is
 * none.
 */
function barredBy(order: Order, name: TransitionName): TransitionRule | null {
  const { from, otherwise } = ORDER_CHART[name];
  const onChart = from.includes(order.status);
  if (name === "cancelByPartner")
    return onChart || (hasFailedPayment(order) && !isSettled(order)) ? null : otherwise;
  if (isSettled(order) && !onChart) return "order_settled";
  if (name === "ship" && order.holdReasons.length > 0) return "order_on_hold";
  if (order.testMode) return null;
  if (!onChart) return otherwise;
  // Routing charges the shipping and reserves the stock, so nothing ships before it.
  return name === "ship" && order.routedAt === null ? "not_routed" : null;
}

/** If reasons remain, the order is still on hold, and the event shows the remaining reasons. */
const releaseFacts = (before: Order, { holdReasons = before.holdReasons }: Partial<Order>): OrderFact[] =>
  holdReasons.length === before.holdReasons.length
    ? []
    : [{ type: holdReasons.length === 0 ? "order.onHoldReleased" : "order.onHold" }];

/** The failed payment of a real order is released only if the request names it. */
const isReleased = (order: Order, reason: string, named: readonly string[] | undefined): boolean =>
  named === undefined ? order.testMode || reason !== PAYMENT_FAILED : named.includes(reason);

/** The order's hold reasons with those that are placed. The same list if nothing changes. */
function reasonsAfter(
  order: Order,
  { name, reasons }: Extract<Transition, { name: "hold" | "addHold" }>,
): readonly string[] {
  // The sandbox replaces them (docs/design/lifecycle.md, "The sandbox").
  if (name === "hold" && order.testMode) return union([], reasons);
  const added = union(order.holdReasons, reasons);
  return added.length === order.holdReasons.length ? order.holdReasons : added;
}

const union = (some: readonly string[], others: readonly string[]): string[] => [
  ...new Set([...some, ...others]),
];

/** Settling an order clears its holds (docs/design/lifecycle.md, "Holds"). */
const settle = (order: Order): Order => (isSettled(order) ? { ...order, holdReasons: [] } : order);

/**
 * A real order is RETURNED when nothing of it is out any more; a test order at the first return
 * (docs/design/lifecycle.md, "Returns").
 */
function afterReturn(
  order: Order,
  transition: Extract<Transition, { name: "returnShipment" }>,
): { readonly change: Partial<Order>; readonly facts: readonly OrderFact[] } | null {
  const returned = returnUnits(order, transition);
  if (returned === null) return null;
  const { returnedIds, ...change } = returned;
  const isAllBack = order.testMode || shipmentsOut(change).length === 0;
  return {
    change: isAllBack ? change : { ...change, status: order.status },
    facts: returnedIds.map((shipmentId) => ({ type: "order.shipmentReturned", shipmentId })),
  };
}

/** The rule, if a requested line has a shipment or is canceled, or if all lines are (docs/design/lifecycle.md, "The sandbox"). */
function shipLines(
  order: Order,
  transition: Extract<Transition, { name: "ship" }>,
  now: Date,
): Pick<Order, "lines" | "shipments"> | "nothing_to_ship" | "too_many_lines" {
  const { lineIds, parts = [], newShipmentId } = transition;
  const named = lineIds === null ? null : new Set(lineIds);
  const requested = order.lines.filter((line) => (named === null ? isOpen(line) : named.has(line.id)));
  if (requested.length === 0 || !requested.every(isOpen)) return "nothing_to_ship";
  const ids = new Set(requested.map(({ id }) => id));
  const lines = splitLines(order.lines, parts);
  if (lines.length > Math.max(LINES_MAX, order.lines.length)) return "too_many_lines";
  return {
    lines: lines.map((line) => (ids.has(line.id) ? { ...line, shipmentId: newShipmentId } : line)),
    shipments: [...order.shipments, newShipment(transition, now)],
  };
}

/** Stands for "no limit": a failed payment keeps the order cancelable as long as the hold lasts. */
const WITHOUT_END = new Date("9999-12-31T23:59:59.999Z");

/**
 * Until when a partner can cancel the order (docs/design/lifecycle.md, "Fields of an order"). Null if it cannot. The order must
 * be `asOf` now.
 */
export function cancelableUntil(order: Order): Date | null {
  if (isSettled(order)) return null;
  if (hasFailedPayment(order)) return order.expiresAt ?? WITHOUT_END;
  return order.status === "NEW" ? (order.expiresAt ?? order.acceptanceDueAt) : null;
}

/** See docs/design/lifecycle.md, "Settled statuses". */
export const SETTLED_STATUSES: readonly OrderStatus[] = ["COMPLETED", "CANCELED", "RETURNED"];

const UNSETTLED = ORDER_STATUSES.filter((status) => !SETTLED_STATUSES.includes(status));
/** Shipments can still change after their order is settled. */
const SHIPPED: readonly OrderStatus[] = ["IN_PROGRESS", ...SETTLED_STATUSES];

type Edge = {
  readonly from: readonly OrderStatus[];
  /** The status after the transition. Null if it does not change. */
  readonly to: OrderStatus | null;
  /** The rule that forbids the transition in any other unsettled status. Null if there is no such status. */
  readonly otherwise: TransitionRule | null;
};

/**
 * The chart of real orders (specification, part 3, "Real orders"). docs/order-states.svg is drawn from it. A test order
 * accepts each transition from any unsettled status.
 */
export const ORDER_CHART: Readonly<Record<TransitionName, Edge>> = {
  cancelByPartner: { from: ["NEW"], to: "CANCELED", otherwise: "not_cancelable" },
  accept: { from: ["NEW"], to: "ACCEPTED", otherwise: "not_new" },
  // For test orders only. A real order is put in review when it is created.
  process: { from: [], to: "PROCESSING", otherwise: "not_new" },
  approve: { from: ["PROCESSING"], to: "ACCEPTED", otherwise: "not_in_review" },
  reject: { from: ["PROCESSING"], to: "CANCELED", otherwise: "not_in_review" },
  hold: { from: UNSETTLED, to: null, otherwise: null },
  addHold: { from: UNSETTLED, to: null, otherwise: null },
  releaseHold: { from: UNSETTLED, to: null, otherwise: null },
  ship: { from: ["ACCEPTED", "IN_PROGRESS"], to: "IN_PROGRESS", otherwise: "not_accepted" },
  // One in progress has shipped, unless its shipments were voided.
  updateShippingAddress: { from: UNSETTLED, to: null, otherwise: null },
  voidShipment: { from: ["IN_PROGRESS"], to: null, otherwise: "no_shipment_out" },
  updateShipment: { from: SHIPPED, to: null, otherwise: "no_shipment_out" },
  // COMPLETED if nothing is left to ship.
  cancelLines: { from: ["ACCEPTED", "IN_PROGRESS"], to: null, otherwise: "not_accepted" },
  complete: { from: ["IN_PROGRESS"], to: "COMPLETED", otherwise: "unshipped_lines" },
  cancel: { from: UNSETTLED, to: "CANCELED", otherwise: null },
  returnShipment: { from: SHIPPED, to: "RETURNED", otherwise: "no_shipment_out" },
};
