import { type EventRow, eventRow } from "../../events/event.ts";
import type { OptInEventType } from "../../events/event-types.ts";
import { hasFailedPayment, isSameTracking } from "../../lifecycle/lifecycle.ts";
import type { Order, Shipment } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { NewId } from "../../platform/ids.ts";
import { type FeedPositions, insertEvents } from "../../webhooks/publishing/events-sql.ts";
import { listWantedTypes } from "../../webhooks/publishing/wanted-types-sql.ts";
import { toWireOrder, toWireShipment } from "../order-wire.ts";

type Step = {
  readonly before: Pick<Order, "status" | "holdReasons" | "shipments">;
  readonly after: Order;
};
type OptIn = { readonly type: OptInEventType; readonly shipment?: Shipment };

/** The opt-in events that a transition of a real order publishes (decision 0016). Those of test orders publish none. */
function optIns({ before, after }: Step): OptIn[] {
  if (after.testMode) return [];
  const told: OptIn[] = [];
  if (before.status !== after.status && after.status === "ACCEPTED") told.push({ type: "order.accepted" });
  if (before.status !== after.status && after.status === "IN_PROGRESS")
    told.push({ type: "order.inProgress" });
  if (hasFailedPayment(after) && !hasFailedPayment(before)) told.push({ type: "order.paymentFailed" });
  for (const shipment of after.shipments) {
    const earlier = before.shipments.find(({ id }) => id === shipment.id);
    if (earlier !== undefined && !isSameTracking(earlier, shipment))
      told.push({ type: "order.shipmentUpdated", shipment });
  }
  return told;
}

/**
 * Writes opt-in events, if the connection has an endpoint that names their type. They do not count in the order's
 * sequence, so that other endpoints see no gap.
 */
export async function tellOptIns(
  tx: Queryable,
  connection: ConnectionKey,
  steps: readonly Step[],
  { newId, now }: { newId: NewId; now: Date },
  positions: FeedPositions,
): Promise<void> {
  const told = steps.flatMap((step) => optIns(step).map((optIn) => ({ optIn, order: step.after })));
  if (told.length === 0) return;
  const wanted = await listWantedTypes(tx, connection);
  const events = told
    .filter(({ optIn }) => wanted.has(optIn.type))
    .map(({ optIn, order }) => optInEvent(optIn, order, newId(), now));
  await insertEvents(tx, events, now, positions);
}

function optInEvent({ type, shipment }: OptIn, order: Order, id: string, now: Date): EventRow {
  const event = eventRow({
    merchantId: order.merchantId,
    connectionId: order.connectionId,
    id,
    type,
    occurredAt: now,
    testMode: false,
    orderId: order.id,
    sequence: null,
    notAfter: null,
    data: {
      order: toWireOrder(order),
      ...(shipment === undefined ? {} : { shipment: toWireShipment(order, shipment) }),
    },
  });
  return { ...event, sequence: order.lastSequence }; // Behind the events counted so far.
}
