import type { OptInEventType } from "../../events/event-types.ts";
import { hasFailedPayment } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderState, Shipment } from "../../lifecycle/order.ts";
import { returnedBetween } from "../../lifecycle/returns.ts";
import { isSameForPartners } from "../../lifecycle/shipments.ts";

type Change = { readonly before: Order | OrderState; readonly after: Order | OrderState };
export type OptIn = { readonly type: OptInEventType; readonly shipment?: Shipment };

/**
 * The events that a transition publishes to endpoints that name them (decision 0016). The sandbox transition `accept`
 * publishes nothing (specification, part 6).
 */
export function optInsOf({ before, after }: Change): OptIn[] {
  const optIns: OptIn[] = [];
  if (before.status !== after.status && after.status === "ACCEPTED" && !after.testMode)
    optIns.push({ type: "order.accepted" });
  if (before.status !== after.status && after.status === "IN_PROGRESS")
    optIns.push({ type: "order.inProgress" });
  if (hasFailedPayment(after) && !hasFailedPayment(before)) optIns.push({ type: "order.paymentFailed" });
  if (!isWhole(before) || !isWhole(after)) return optIns;
  const returned = new Set(returnedBetween(before, after).map(({ line }) => line.shipmentId));
  for (const shipment of after.shipments) {
    const earlier = before.shipments.find(({ id }) => id === shipment.id);
    // The return of a whole shipment has an event of its own.
    if (earlier === undefined || shipment.status === "returned") continue;
    if (returned.has(shipment.id) || !isSameForPartners(earlier, shipment))
      optIns.push({ type: "order.shipmentUpdated", shipment });
  }
  return optIns;
}

/** Whether an order was read with its lines and shipments. */
export const isWhole = (order: Order | OrderState): order is Order => "lines" in order;
