import type { TransitionCause } from "../../lifecycle/applied-transition.ts";
import { hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderFact, OrderState, Shipment } from "../../lifecycle/order.ts";
import { canceledBetween, isSameForPartners, returnedBetween } from "../../lifecycle/parts.ts";
import type { NewId } from "../../platform/ids.ts";
import { type EventRow, eventRow, type OptInEventType } from "../../webhooks/events/event.ts";
import { type CanceledUnits, toWireOrder, toWireShipment } from "../order-wire.ts";

/** The events of an order for its latest facts. Each shows the order after all of these. */
export function orderEvents(order: Order, facts: readonly OrderFact[], newId: NewId, now: Date): EventRow[] {
  if (facts.length === 0) return [];
  const wireOrder = toWireOrder(order);
  return facts.map((fact, index) => {
    const shipment = order.shipments.find(({ id }) => id === fact.shipmentId);
    return eventRow({
      merchantId: order.merchantId,
      connectionId: order.connectionId,
      id: newId(),
      type: fact.type,
      occurredAt: now,
      testMode: order.testMode,
      orderId: order.id,
      sequence: order.lastSequence - facts.length + index + 1,
      notAfter: order.expiresAt,
      data:
        shipment === undefined
          ? { order: wireOrder }
          : { order: wireOrder, shipment: toWireShipment(order, shipment) },
    });
  });
}

type Change = Pick<TransitionCause, "cancelReason"> & {
  readonly before: Order | OrderState;
  readonly after: Order | OrderState;
};
export type OptIn = {
  readonly type: OptInEventType;
  readonly shipment?: Shipment;
  readonly canceled?: CanceledUnits;
};

/**
 * Shipments that one transition reports (docs/design/lifecycle.md, "Shipments"). Each event contains the whole order, and each
 * endpoint gets a delivery of it.
 */
export const SHIPMENTS_AT_ONCE_MAX = 20;

/**
 * The events that a transition publishes to endpoints that name them (docs/design/event-feed.md, "Event types"). The sandbox
 * transition `accept` publishes nothing (specification, part 6).
 */
export function optInsOf({ before, after, cancelReason = "other" }: Change): OptIn[] {
  const optIns: OptIn[] = [];
  if (before.status !== after.status && after.status === "ACCEPTED" && !after.testMode)
    optIns.push({ type: "order.accepted" });
  if (before.status !== after.status && after.status === "IN_PROGRESS")
    optIns.push({ type: "order.inProgress" });
  if (hasFailedPayment(after) && !hasFailedPayment(before)) optIns.push({ type: "order.paymentFailed" });
  if (!isWhole(before) || !isWhole(after)) return optIns;
  const lines = canceledBetween(before, after);
  if (lines.length > 0)
    optIns.push({ type: "order.linesCanceled", canceled: { lines, reason: cancelReason } });
  const updated = updatedShipments(before, after).slice(0, SHIPMENTS_AT_ONCE_MAX);
  return [...optIns, ...updated.map((shipment): OptIn => ({ type: "order.shipmentUpdated", shipment }))];
}

function updatedShipments(before: Order, after: Order): Shipment[] {
  const returned = new Set(returnedBetween(before, after).map(({ line }) => line.shipmentId));
  const earlier = new Map(before.shipments.map((shipment) => [shipment.id, shipment]));
  return after.shipments.filter((shipment) => {
    const stored = earlier.get(shipment.id);
    // The return of a whole shipment has an event of its own. A void has not.
    if (stored === undefined || shipment.status === "returned") return false;
    return returned.has(shipment.id) || !isSameForPartners(stored, shipment);
  });
}

/** True if an order was read with its lines and shipments. */
export const isWhole = (order: Order | OrderState): order is Order => "lines" in order;
