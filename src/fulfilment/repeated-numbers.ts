import { roleOnOrder } from "../audit/grant.ts";
import type { Order, TransitionRule } from "../lifecycle/order.ts";
import type { Staff } from "../orders/changes/change-order.ts";
import { comparableNumber, possibleTrackingNumbers } from "../orders/changes/tracking-number.ts";
import { findOpenParcels, type OpenParcel } from "../orders/owners-sql.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Problem } from "../platform/wire/problems.ts";

/** The number of a request for a parcel, and whether a repetition is meant. */
export type RequestedNumber = {
  readonly trackingNumber?: string | null | undefined;
  readonly repeatedTrackingNumber?: boolean | undefined;
};

/** The parcels on their way that may have the number of one of the requests that mean no repetition. */
export async function findParcelsWithNumber(
  db: Queryable,
  requests: readonly RequestedNumber[],
): Promise<OpenParcel[]> {
  const numbers = requests.flatMap(({ trackingNumber, repeatedTrackingNumber }) =>
    trackingNumber == null || trackingNumber.trim() === "" || repeatedTrackingNumber === true
      ? []
      : possibleTrackingNumbers(trackingNumber),
  );
  return numbers.length === 0 ? [] : findOpenParcels(db, [...new Set(numbers)]);
}

const REPEATED: TransitionRule = "tracking_number_repeated";

/**
 * The question whether a number is meant that a shipment gets and another parcel has, of an order that the caller sees. Null if
 * there is none (docs/design/fulfilment.md, "A number on two parcels").
 */
export function repeatedNumber(
  { grants }: Pick<Staff, "grants">,
  name: string,
  before: Order,
  after: Order,
  parcels: readonly OpenParcel[],
): Problem | null {
  for (const { shipmentId: id, trackingNumber } of newlyNumbered(before, after)) {
    const other = parcels.find(
      (parcel) =>
        parcel.trackingNumber === trackingNumber &&
        parcel.shipmentId !== id &&
        roleOnOrder(grants, parcel) !== null,
    );
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

/** The parcels that get another number between two states of an order. */
export function newlyNumbered(before: Order, after: Order): OpenParcel[] {
  const numberOf = (text: string | null) => (text === null ? null : comparableNumber(text));
  const earlier = new Map(before.shipments.map(({ id, trackingNumber }) => [id, numberOf(trackingNumber)]));
  const { merchantId, connectionId, facilityId, id: orderId } = after;
  return after.shipments.flatMap(({ id: shipmentId, trackingNumber: text }) => {
    const trackingNumber = numberOf(text);
    return trackingNumber === null || trackingNumber === earlier.get(shipmentId)
      ? []
      : [{ merchantId, connectionId, facilityId, orderId, shipmentId, trackingNumber }];
  });
}
