import type { Shipment, ShipmentStatus } from "./order.ts";
import type { Tracking, Transition } from "./transition.ts";

const UNTRACKED: Tracking = { carrier: null, trackingNumber: null, trackingUrl: null };

/** Whether a carrier has issued tracking. A carrier's name alone is no tracking. */
export const isTracked = ({
  trackingNumber,
  trackingUrl,
}: Pick<Shipment, "trackingNumber" | "trackingUrl">): boolean =>
  trackingNumber !== null || trackingUrl !== null;

/** A shipment that has tracking was handed to the carrier, unless the request says otherwise (decision 0085). */
export function newShipment(
  { newShipmentId: id, tracking = UNTRACKED, weightGrams = null }: Extract<Transition, { name: "ship" }>,
  now: Date,
): Shipment {
  const pending: Shipment = {
    id,
    status: "pending",
    ...tracking,
    createdAt: now,
    shippedAt: null,
    deliveredAt: null,
    weightGrams,
  };
  return isTracked(tracking) ? withStatus(pending, "shipped", now) : pending;
}

/** Null if the shipment is missing or has come back. The same list if nothing changes. */
export function changeShipment(
  shipments: readonly Shipment[],
  { shipmentId, change }: Extract<Transition, { name: "updateShipment" }>,
  now: Date,
): readonly Shipment[] | null {
  const shipment = shipments.find(({ id }) => id === shipmentId);
  if (shipment === undefined || shipment.status === "returned") return null;
  const { carrier, trackingNumber, trackingUrl, status } = { ...shipment, ...change };
  const tracked = { ...shipment, carrier, trackingNumber, trackingUrl };
  const isHandedOver = change.status === undefined && isTracked(tracked) && !isTracked(shipment);
  const changed = withStatus(tracked, isHandedOver && status === "pending" ? "shipped" : status, now);
  return isSameForPartners(shipment, changed) ? shipments : replace(shipments, changed);
}

/** A completed order has no pending shipment: what is complete has left the warehouse (decision 0085). */
export const allShipped = (shipments: readonly Shipment[], now: Date): readonly Shipment[] =>
  shipments.some(isPending)
    ? shipments.map((shipment) => (isPending(shipment) ? withStatus(shipment, "shipped", now) : shipment))
    : shipments;

const isPending = ({ status }: Shipment): boolean => status === "pending";

/** The shipment with a status, and with the times that go with it. A time that is known already stays. */
function withStatus(shipment: Shipment, status: ShipmentStatus, now: Date): Shipment {
  switch (status) {
    case "pending":
      return { ...shipment, status, shippedAt: null, deliveredAt: null };
    case "shipped":
      return { ...shipment, status, shippedAt: shipment.shippedAt ?? now, deliveredAt: null };
    case "delivered":
      return {
        ...shipment,
        status,
        shippedAt: shipment.shippedAt ?? now,
        deliveredAt: shipment.deliveredAt ?? now,
      };
    case "returned":
      return { ...shipment, status };
    default:
      return status satisfies never;
  }
}

/** Whether a shipment has not changed for partners. */
export const isSameForPartners = (one: Shipment, other: Shipment): boolean =>
  one.status === other.status &&
  one.carrier === other.carrier &&
  one.trackingNumber === other.trackingNumber &&
  one.trackingUrl === other.trackingUrl;

const replace = (shipments: readonly Shipment[], changed: Shipment): Shipment[] =>
  shipments.map((shipment) => (shipment.id === changed.id ? changed : shipment));
