import { api, dataOf } from "../../api/client.ts";
import { ApiProblem, isProblem, isUncertain } from "../../api/problem.ts";
import type { ShipRequest } from "../../api/schema.d.ts";
import type { OpenPacking } from "./packing.ts";
import { type Change, changeSince, parcelRequest, shipmentOfLostAttempt } from "./parcel.ts";
import { scanned } from "./queries.ts";

/** How an attempt to ship a parcel ended. */
export type Sent =
  | { readonly outcome: "shipped"; readonly shipmentId: string | null }
  /** Nothing has shipped: there is something to say first. */
  | { readonly outcome: "overtaken"; readonly change: Change }
  /** It may have shipped. The next attempt finds out. */
  | { readonly outcome: "unanswered"; readonly error: unknown };

/**
 * Ships what was counted (docs/design/fulfilment.md, "A parcel ships as it was packed"). The order is read again before:
 * another person may have corrected its address, or shipped a part of it. An attempt whose response was lost may have made the
 * shipment; then nothing is shipped twice.
 *
 * @throws ApiProblem if nothing has shipped
 */
export async function sendParcel(state: OpenPacking, trackingNumber: string | null): Promise<Sent> {
  const request = parcelRequest(state, trackingNumber);
  const before = await sentOrOvertaken(state, request);
  if (before !== null) return before;
  try {
    const params = { path: { id: state.order.orderId } };
    const order = await dataOf(api.POST("/api/orders/{id}/ship", { params, body: request }));
    return { outcome: "shipped", shipmentId: order.shipments.at(-1)?.id ?? null };
  } catch (error) {
    if (isLost(error)) return { outcome: "unanswered", error };
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
async function sentOrOvertaken(state: OpenPacking, request: ShipRequest): Promise<Sent | null> {
  const { orderId } = state.order;
  const { orders } = await scanned(orderId);
  const now = orders.find((order) => order.orderId === orderId);
  const shipmentId = now === undefined ? null : shipmentOfLostAttempt(state, request, now);
  if (shipmentId !== null) return { outcome: "shipped", shipmentId };
  const change = changeSince(state, now);
  return change === null ? null : { outcome: "overtaken", change };
}
