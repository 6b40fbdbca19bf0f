import type { Order, OrderStatus, Shipment } from "./order.ts";

/**
 * The one place that decides a change of status: the sandbox, the partner's cancel, the warehouse and the timers
 * all ask it. It knows neither HTTP nor SQL. Specification, part 3; decisions 0010 to 0015.
 */
export type Transition =
  /** The eight steps of the sandbox, which the back office takes with real orders. */
  | { readonly name: "process" | "accept" | "releaseHold" | "complete" | "cancel" }
  | { readonly name: "hold"; readonly reasons: readonly string[] }
  /** `lineIds` null: all unshipped lines. `newShipmentId` is the id that the shipment gets. */
  | { readonly name: "ship"; readonly lineIds: readonly string[] | null; readonly newShipmentId: string }
  /** `shipmentId` null: the most recent shipment still out. */
  | { readonly name: "returnShipment"; readonly shipmentId: string | null }
  /** A partner cancels: only before acceptance, or while payment has failed. */
  | { readonly name: "cancelByPartner" };

export type RefusalRule =
  | "order_on_hold"
  | "unshipped_lines"
  | "order_settled"
  | "no_shipment_out"
  | "nothing_to_ship"
  | "not_cancelable";

type OrderEventType =
  | "order.created"
  | "order.canceled"
  | "order.onHold"
  | "order.onHoldReleased"
  | "order.shipmentCreated"
  | "order.shipmentReturned"
  | "order.completed";

/** What happened; an event about a parcel names its shipment. */
export type OrderFact = { readonly type: OrderEventType; readonly shipmentId?: string };

export type Outcome =
  | { readonly outcome: "applied"; readonly order: Order; readonly facts: readonly OrderFact[] }
  /** `order` is the order as it stands at that moment: the deadline may have accepted it. */
  | { readonly outcome: "refused"; readonly order: Order; readonly rule: RefusalRule };

/** Decision 0010. */
const SETTLED: ReadonlySet<OrderStatus> = new Set(["COMPLETED", "CANCELED", "RETURNED"]);
export const isSettled = (order: Order): boolean => SETTLED.has(order.status);

/** Decision 0011: a failed payment is a hold with this reason. */
const PAYMENT_FAILED = "payment_failed";
const hasFailedPayment = (order: Pick<Order, "holdReasons">): boolean =>
  order.holdReasons.includes(PAYMENT_FAILED);

/** A test order past its time is gone at once, whether or not it has been erased yet (specification, part 3, rule 4). */
export const isExpired = (order: Pick<Order, "expiresAt">, now: Date): boolean =>
  order.expiresAt !== null && now >= order.expiresAt;

/** The part of an order that the deadline looks at. */
export type TimedOrder = Pick<Order, "status" | "holdReasons" | "acceptanceDueAt" | "updatedAt">;

/**
 * The order as it stands at `now`: the deadline decides, not the timer (decision 0012). The clock stands still
 * while payment has failed, and test orders are never accepted by themselves.
 */
export function asOf<T extends TimedOrder>(order: T, now: Date): T {
  const due = order.acceptanceDueAt;
  if (order.status !== "NEW" || due === null || now < due || hasFailedPayment(order)) return order;
  const updatedAt = new Date(Math.max(due.getTime(), order.updatedAt.getTime()));
  return { ...order, status: "ACCEPTED", updatedAt };
}

export function isCancelableByPartner(order: Order, now: Date): boolean {
  const current = asOf(order, now);
  return !isSettled(current) && (current.status === "NEW" || hasFailedPayment(current));
}

export function applyTransition(stored: Order, transition: Transition, now: Date): Outcome {
  const order = asOf(stored, now);
  const refuse = (rule: RefusalRule): Outcome => ({ outcome: "refused", order, rule });
  const apply = (change: Partial<Order>, ...facts: OrderFact[]): Outcome => ({
    outcome: "applied",
    // A hold for a failed payment that is lifted after the deadline lets the order be accepted at once.
    order: asOf(
      settle({ ...order, ...change, updatedAt: now, lastSequence: order.lastSequence + facts.length }),
      now,
    ),
    facts,
  });

  if (transition.name === "cancelByPartner") {
    if (order.status === "CANCELED") return { outcome: "applied", order, facts: [] }; // A retry is safe.
    return isCancelableByPartner(order, now)
      ? apply({ status: "CANCELED" }, { type: "order.canceled" })
      : refuse("not_cancelable");
  }
  if (isSettled(order) && transition.name !== "returnShipment") return refuse("order_settled");

  switch (transition.name) {
    case "process":
      return apply({ status: "PROCESSING" });
    case "accept":
      return apply({ status: "ACCEPTED" });
    case "hold":
      return apply({ holdReasons: [...new Set(transition.reasons)] }, { type: "order.onHold" });
    case "releaseHold":
      if (order.holdReasons.length === 0) return { outcome: "applied", order, facts: [] };
      return apply({ holdReasons: [] }, { type: "order.onHoldReleased" });
    case "ship": {
      if (order.holdReasons.length > 0) return refuse("order_on_hold");
      const shipped = shipLines(order, transition.lineIds, transition.newShipmentId, now);
      if (shipped === null) return refuse("nothing_to_ship");
      return apply(shipped, { type: "order.shipmentCreated", shipmentId: transition.newShipmentId });
    }
    case "returnShipment": {
      const parcel = parcelOut(order, transition.shipmentId);
      if (parcel === undefined) return refuse("no_shipment_out");
      const shipments = order.shipments.map((s) =>
        s.id === parcel.id ? { ...s, status: "returned" as const } : s,
      );
      return apply(
        { status: "RETURNED", shipments },
        { type: "order.shipmentReturned", shipmentId: parcel.id },
      );
    }
    case "complete":
      if (order.lines.some((line) => line.shipmentId === null)) return refuse("unshipped_lines");
      return apply({ status: "COMPLETED" }, { type: "order.completed" });
    case "cancel":
      return apply({ status: "CANCELED" }, { type: "order.canceled" });
    default:
      return transition satisfies never;
  }
}

/** Settling an order clears its holds (decision 0013). */
const settle = (order: Order): Order =>
  isSettled(order) && order.holdReasons.length > 0 ? { ...order, holdReasons: [] } : order;

/** Null when a line asked for has a shipment already, or when no line is left to ship (decision 0014). */
function shipLines(
  order: Order,
  lineIds: readonly string[] | null,
  newShipmentId: string,
  now: Date,
): Pick<Order, "status" | "lines" | "shipments"> | null {
  const asked = order.lines.filter((line) =>
    lineIds === null ? line.shipmentId === null : lineIds.includes(line.id),
  );
  if (asked.length === 0 || asked.some((line) => line.shipmentId !== null)) return null;
  const shipment: Shipment = {
    id: newShipmentId,
    status: "pending",
    trackingNumber: null,
    trackingUrl: null,
    createdAt: now,
  };
  return {
    status: "IN_PROGRESS",
    lines: order.lines.map((line) => (asked.includes(line) ? { ...line, shipmentId: newShipmentId } : line)),
    shipments: [...order.shipments, shipment],
  };
}

function parcelOut(order: Order, shipmentId: string | null): Shipment | undefined {
  const out = order.shipments.filter((shipment) => shipment.status !== "returned");
  return shipmentId === null ? out.at(-1) : out.find((shipment) => shipment.id === shipmentId);
}

/** Far enough to mean "without end": a failed payment keeps the order cancelable for as long as the hold stands. */
const WITHOUT_END = new Date("9999-12-31T23:59:59.999Z");

/** Until when a partner can cancel the order as it stands (decision 0008); null when it cannot. Give it an order `asOf` now. */
export function cancelableUntil(order: Order): Date | null {
  if (isSettled(order)) return null;
  if (hasFailedPayment(order)) return order.expiresAt ?? WITHOUT_END;
  return order.status === "NEW" ? (order.expiresAt ?? order.acceptanceDueAt) : null;
}
