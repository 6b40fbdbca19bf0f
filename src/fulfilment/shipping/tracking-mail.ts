import type { AppliedTransition, RecordContext } from "../../lifecycle/applied-transition.ts";
import type { Order, Shipment } from "../../lifecycle/order.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import { readAccountEmail } from "../../merchants/merchants-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { wireOrderId } from "../../platform/ids.ts";

const isTracked = ({ trackingNumber, trackingUrl }: Shipment): boolean =>
  trackingNumber !== null || trackingUrl !== null;

/**
 * Queues the carrier's tracking for the merchant's account address (specification, part 1), for each shipment whose
 * tracking has become known by the transition. A mail has its shipment's id, so there is one for each, however often
 * the tracking changes.
 */
export async function mailTracking(
  tx: Queryable,
  { before, after }: Pick<AppliedTransition, "before" | "after">,
  { now }: RecordContext,
): Promise<void> {
  const { merchantId, connectionId } = after;
  const tracked = after.shipments.filter((shipment) => {
    const earlier = before.shipments.find(({ id }) => id === shipment.id);
    return isTracked(shipment) && (earlier === undefined || !isTracked(earlier));
  });
  if (tracked.length === 0) return;
  const recipient = await readAccountEmail(tx, merchantId);
  for (const shipment of tracked)
    await queueMail(tx, {
      ...{ ...trackingMail(after, shipment), merchantId, connectionId },
      ...{ id: shipment.id, recipient, now },
    });
}

function trackingMail(order: Order, shipment: Shipment): { subject: string; body: string } {
  const name = order.externalOrderId ?? wireOrderId(order);
  const covered = order.lines.filter((line) => line.shipmentId === shipment.id);
  const pieces = covered.reduce((sum, { quantity }) => sum + quantity, 0);
  const facts = [
    `Order: ${wireOrderId(order)}`,
    ...(order.externalOrderId === null ? [] : [`Partner's order id: ${order.externalOrderId}`]),
    ...(shipment.carrier === null ? [] : [`Carrier: ${shipment.carrier}`]),
    ...(shipment.trackingNumber === null ? [] : [`Tracking number: ${shipment.trackingNumber}`]),
    ...(shipment.trackingUrl === null ? [] : [`Tracking: ${shipment.trackingUrl}`]),
    `Lines in the parcel: ${covered.length} of ${order.lines.length} (${pieces} pieces)`,
  ];
  return {
    subject: `Order ${name} is on its way`,
    body: `A parcel of one of your orders has been given to the carrier.\n\n${facts.join("\n")}\n`,
  };
}
