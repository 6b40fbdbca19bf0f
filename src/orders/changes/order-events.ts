import { type EventRow, eventRow } from "../../events/event.ts";
import type { Order, OrderFact } from "../../lifecycle/order.ts";
import type { NewId } from "../../platform/ids.ts";
import { toWireOrder, toWireShipment } from "../order-wire.ts";

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
