import { roleOnOrder } from "../audit/grant.ts";
import type { Order, TransitionRule } from "../lifecycle/order.ts";
import type { Staff } from "../orders/changes/change-order.ts";
import { comparableNumber, possibleTrackingNumbers } from "../orders/changes/tracking-number.ts";
import { findOpenParcels, type OpenParcel } from "../orders/owners-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Problem } from "../platform/wire/problems.ts";

/**
 * The parcels on their way, of orders that the caller sees, that may have the number of a request. None if it means the repetition
 * (docs/design/fulfilment.md, "A number on two parcels").
 */
export async function findParcelsWithNumber(
  db: Queryable,
  { grants }: Staff,
  trackingNumber: string | null | undefined,
  isMeant: boolean | undefined,
): Promise<OpenParcel[]> {
  if (trackingNumber == null || trackingNumber.trim() === "" || isMeant === true) return [];
  const parcels = await findOpenParcels(db, possibleTrackingNumbers(trackingNumber));
  return parcels.filter((parcel) => roleOnOrder(grants, parcel) !== null);
}

const REPEATED: TransitionRule = "tracking_number_repeated";

/** The question whether a number is meant that a shipment gets and another parcel has. Null if there is none. */
export function repeatedNumber(
  name: string,
  before: Order,
  after: Order,
  parcels: readonly OpenParcel[],
): Problem | null {
  const numberOf = (trackingNumber: string | null) =>
    trackingNumber === null ? null : comparableNumber(trackingNumber);
  const earlier = new Map(before.shipments.map(({ id, trackingNumber }) => [id, numberOf(trackingNumber)]));
  for (const { id, trackingNumber } of after.shipments) {
    const number = numberOf(trackingNumber);
    if (number === null || number === earlier.get(id)) continue;
    const other = parcels.find((parcel) => parcel.trackingNumber === number && parcel.shipmentId !== id);
    if (other === undefined) continue;
    const orderId = toTypeId("ord", other.orderId);
    const shipmentId = other.shipmentId === null ? null : toTypeId("shp", other.shipmentId);
    const parcel = shipmentId === null ? "a parcel" : `shipment ${shipmentId}`;
    return {
      code: "transition-refused",
      detail: `The tracking number is already on ${parcel} of order ${orderId}. If that is meant, say so with repeatedTrackingNumber.`,
      members: { transition: name, orderStatus: before.status, rule: REPEATED, orderId, shipmentId },
    };
  }
  return null;
}
