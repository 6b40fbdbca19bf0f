import type { Order, Shipment } from "../lifecycle/order.ts";
import { isTracked } from "../lifecycle/parts.ts";
import { oneLine, plainId, subjectWith } from "../mail/one-line.ts";
import { wireOrderId } from "../platform/ids.ts";
import { counted } from "../platform/wire/rules.ts";

/** The shipments whose tracking became known between two states of an order. */
export const newlyTracked = (before: Pick<Order, "shipments">, after: Pick<Order, "shipments">): Shipment[] =>
  after.shipments.filter((shipment) => {
    const earlier = before.shipments.find(({ id }) => id === shipment.id);
    return isTracked(shipment) && (earlier === undefined || !isTracked(earlier));
  });

/**
 * The mail that sends a shipment's tracking to the merchant. A shipment can have tracking before the carrier has it: then
 * the mail does not say that the order is on its way.
 */
export function trackingMail(order: Order, shipment: Shipment): { subject: string; body: string } {
  const partnersId = plainId(order.externalOrderId);
  const covered = order.lines.filter((line) => line.shipmentId === shipment.id);
  const units = covered.reduce((sum, { quantity }) => sum + quantity, 0);
  const facts = [
    `Order: ${wireOrderId(order)}`,
    ...(partnersId === null ? [] : [`Partner's order id: ${partnersId}`]),
    ...(shipment.carrier === null ? [] : [`Carrier: ${oneLine(shipment.carrier)}`]),
    ...(shipment.trackingNumber === null ? [] : [`Tracking number: ${oneLine(shipment.trackingNumber)}`]),
    ...(shipment.trackingUrl === null ? [] : [`Tracking: ${oneLine(shipment.trackingUrl)}`]),
    `Order lines in this shipment: ${covered.length} of ${order.lines.length} (${counted(units, "unit")})`,
  ];
  const isPending = shipment.status === "pending";
  const first = isPending
    ? "A shipment of one of your orders has tracking. The carrier does not have it yet."
    : "A shipment of one of your orders was handed to the carrier.";
  return {
    subject: subjectWith(
      "Order ",
      partnersId ?? wireOrderId(order),
      isPending ? " has tracking" : " is on its way",
    ),
    body: `${first}\n\n${facts.join("\n")}\n`,
  };
}
