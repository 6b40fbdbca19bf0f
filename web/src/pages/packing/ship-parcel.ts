import { api, dataOf } from "../../api/client.ts";
import { ApiProblem, isProblem, isUncertain } from "../../api/problem.ts";
import type { ScannedOrder, ShipRequest, ValidationError } from "../../api/schema.d.ts";
import { lookUp } from "../../ui/scan/look-up.ts";
import { readScan } from "../../ui/scan/read-scan.ts";
import {
  type Change,
  changeSince,
  linesToPack,
  type OpenPacking,
  parcelRequest,
  shipmentOfLostAttempt,
  unitsMissing,
} from "./packing.ts";

// What the table does with the service: it ships a parcel, and settles what is missing or damaged.

/** The order as it is now. */
export const readOrder = async (orderId: string): Promise<ScannedOrder | undefined> => {
  const { orders } = await lookUp(readScan(orderId));
  return orders.find((order) => order.orderId === orderId);
};

/** How an attempt to ship a parcel ended. */
type Attempt =
  | { readonly outcome: "shipped"; readonly shipmentId: string | null }
  /** Nothing has shipped: there is something to say first. */
  | { readonly outcome: "overtaken"; readonly change: Change }
  /** The service knows the carrier or the number as something else. */
  | { readonly outcome: "rejected"; readonly error: ValidationError }
  /** Another open parcel has the number. */
  | { readonly outcome: "tracking-used"; readonly order: string }
  /** It may have shipped. The next attempt finds out. */
  | { readonly outcome: "unanswered"; readonly error: unknown };

/**
 * Ships what was counted (docs/design/fulfilment.md, "A parcel ships as it was packed"). The order is read again before:
 * another person may have corrected its address, or shipped a part of it. An attempt whose response was lost may have made the
 * shipment; then nothing is shipped twice.
 *
 * @throws ApiProblem if nothing has shipped
 */
export async function sendParcel(
  state: OpenPacking,
  trackingNumber: string | null,
  isConfirmed: boolean,
): Promise<Attempt> {
  const request = {
    ...parcelRequest(state, trackingNumber),
    ...(isConfirmed && { repeatedTrackingNumber: true }),
  };
  const before = await sentOrOvertaken(state, request);
  if (before !== null) return before;
  try {
    const params = { path: { id: state.order.orderId } };
    const order = await dataOf(api.POST("/api/orders/{id}/ship", { params, body: request }));
    return { outcome: "shipped", shipmentId: order.shipments.at(-1)?.id ?? null };
  } catch (error) {
    if (isLost(error)) return { outcome: "unanswered", error };
    if (isProblem(error, "transition-refused") && error.members["rule"] === "tracking_number_repeated") {
      const other = await readOrder(String(error.members["orderId"]));
      return { outcome: "tracking-used", order: other?.externalOrderId ?? other?.orderId ?? "" };
    }
    if (isProblem(error, "validation-failed")) {
      const ofLabel = error.errors.find(
        ({ pointer }) => pointer === "/trackingNumber" || pointer === "/carrier",
      );
      if (ofLabel !== undefined) return { outcome: "rejected", error: ofLabel };
    }
    // Another person, or the attempt before, was faster by a moment.
    const after = isProblem(error, "transition-refused") ? await sentOrOvertaken(state, request) : null;
    if (after !== null) return after;
    throw error;
  }
}

/** No response of the service arrived, or a proxy responded in its place. */
const isLost = (error: unknown): boolean =>
  isUncertain(error) || (error instanceof ApiProblem && error.status >= 500);

/** Null: the order is as it was opened, and the parcel has not shipped. */
async function sentOrOvertaken(state: OpenPacking, request: ShipRequest): Promise<Attempt | null> {
  const now = await readOrder(state.order.orderId);
  const shipmentId = now === undefined ? null : shipmentOfLostAttempt(state, request, now);
  if (shipmentId !== null) return { outcome: "shipped", shipmentId };
  const change = changeSince(state, now);
  return change === null ? null : { outcome: "overtaken", change };
}

/**
 * Holds an order of which units are not there, or cancels these, and corrects the stock as far as orders do not need it. All else
 * has shipped, so what is left is missing.
 */
export async function settleRest(state: OpenPacking): Promise<RestOutcome> {
  const { order, missing } = state;
  const isCanceled = state.rest === "cancel" && (await cancelRest(state));
  if (!isCanceled) {
    const params = { path: { id: order.orderId } };
    await dataOf(api.POST("/api/orders/{id}/hold", { params, body: { reasons: ["out_of_stock"] } }));
  }
  const outcomes: StockOutcome[] = [];
  for (const line of linesToPack(order)) {
    const units = missing[line.id] ?? 0;
    if (units === 0) continue;
    const reference = `${state.reference}-${line.id}-missing`;
    outcomes.push(await takeFromStock(order, line.productId, units, "lost", reference));
  }
  const stock = outcomes.find((each) => each !== "adjusted") ?? "adjusted";
  const is = isCanceled ? "canceled" : state.rest === "cancel" ? "heldInstead" : "held";
  return { units: unitsMissing(state), is, stock };
}

/** False if the order forbids it, such as one whose goods are not paid yet. */
async function cancelRest({ order, reference }: OpenPacking): Promise<boolean> {
  const params = { path: { id: order.orderId } };
  const left = linesToPack((await readOrder(order.orderId)) ?? order);
  const lines = left.map(({ id, quantity }) => ({ lineId: id, quantity }));
  const body = { lines, reason: "out_of_stock" as const, reference };
  try {
    await dataOf(api.POST("/api/orders/{id}/cancel-lines", { params, body }));
    return true;
  } catch (error) {
    if (isProblem(error, "transition-refused")) return false;
    throw error;
  }
}

/** The reference makes a retry safe. */
export async function takeFromStock(
  { facilityId }: ScannedOrder,
  productId: string,
  units: number,
  reason: "damaged" | "lost",
  reference: string,
): Promise<StockOutcome> {
  if (facilityId === null) return "none";
  try {
    const params = { path: { id: facilityId, productId } };
    const body = { difference: -units, reason, reference };
    await dataOf(api.POST("/api/facilities/{id}/stock/{productId}/adjust", { params, body }));
    return "adjusted";
  } catch (error) {
    if (isProblem(error, "not-found")) return "none";
    if (isProblem(error, "validation-failed")) return "kept";
    throw error;
  }
}

/** What became of the units that were not there. */
export type RestOutcome = {
  readonly units: number;
  readonly is: "held" | "canceled" | "heldInstead" | "failed";
  readonly stock: StockOutcome;
};
/** `kept`: units are reserved for orders, so the stock cannot be less. `none`: no stock is recorded. */
export type StockOutcome = "adjusted" | "kept" | "none";
