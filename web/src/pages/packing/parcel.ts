import type { ScannedOrder, ShipRequest } from "../../api/schema.d.ts";
import { linesToPack, type OpenPacking, openOrder, type Packing } from "./packing.ts";

/** What can have changed of an order that lies on the table. */
type Part = "goods" | "address";

/** What the station says before a parcel leaves, in the place of shipping it. */
export type ChangeMessage =
  | { readonly outcome: "changed"; readonly order: ScannedOrder; readonly parts: readonly Part[] }
  | { readonly outcome: "cannot-ship"; readonly order: ScannedOrder }
  | { readonly outcome: "unknown-code"; readonly code: string };

export type Change = { readonly packing: Packing; readonly message: ChangeMessage };

/** The request that ships the goods in the box. They are named, so a line that was shipped or added since is not. */
export function parcelRequest(
  { order, weightGrams, carrier }: OpenPacking,
  trackingNumber: string | null,
): ShipRequest {
  return {
    lineIds: linesToPack(order).map(({ id }) => id),
    ...(weightGrams !== null && { weightGrams }),
    ...(carrier !== "" && { carrier }),
    ...(trackingNumber !== null && { trackingNumber }),
  };
}

/**
 * The shipment that an earlier attempt made although its response was lost. Null if there is none. A shipment of another
 * person differs in something, or was there before; without a lost response, every shipment is of another person.
 */
export function shipmentOfLostAttempt(
  { order, counts, wasSent }: OpenPacking,
  request: ShipRequest,
  now: ScannedOrder,
): string | null {
  if (!wasSent) return null;
  const made = now.shipments.find(
    ({ id, carrier, trackingNumber, weightGrams }) =>
      order.shipments.every((before) => before.id !== id) &&
      carrier === (request.carrier ?? null) &&
      trackingNumber === (request.trackingNumber ?? null) &&
      weightGrams === (request.weightGrams ?? null) &&
      hasCounted(now, id, counts),
  );
  return made?.id ?? null;
}

/** True if the shipment has all that was counted, and nothing else. */
function hasCounted(now: ScannedOrder, shipmentId: string, counts: OpenPacking["counts"]): boolean {
  const shipped = now.lines.filter((line) => line.shipmentId === shipmentId);
  const counted = Object.values(counts).filter((units) => units > 0);
  return shipped.length === counted.length && shipped.every(({ id, quantity }) => counts[id] === quantity);
}

/** What has changed since the order was read, and where packing continues. Null if nothing has. */
export function changeSince(state: OpenPacking, now: ScannedOrder | undefined): Change | null {
  const { order } = state;
  const none = { step: "order" } as const;
  if (now === undefined)
    return {
      packing: none,
      message: { outcome: "unknown-code", code: order.externalOrderId ?? order.orderId },
    };
  if (!now.canShip) return { packing: none, message: { outcome: "cannot-ship", order: now } };
  const parts = (["goods", "address"] as const).filter((part) => textOf[part](now) !== textOf[part](order));
  if (parts.length === 0) return null;
  // Units that are in the box may be those that have shipped, so all are counted again.
  const packing = parts.includes("goods") ? openOrder(now, state.carrier) : { ...state, order: now };
  return { packing, message: { outcome: "changed", order: now, parts } };
}

/** For comparing. */
const textOf: Readonly<Record<Part, (order: ScannedOrder) => string>> = {
  goods: (order) => JSON.stringify(linesToPack(order).map(({ id, quantity }) => [id, quantity])),
  address: ({ shippingAddress }) => JSON.stringify(shippingAddress),
};
