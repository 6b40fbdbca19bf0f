import { isExpired } from "../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../lifecycle/order.ts";

/**
 * Finds the orders of one connection that references name at `now`: first by the service's id, then by the partner's
 * own (decision 0009). Expired test orders are skipped, so the erasure changes no response.
 */
export function orderFinder(orders: readonly Order[], now: Date): (ref: OrderRef) => Order | undefined {
  const byId = new Map<string, Order>();
  const byExternalId = new Map<string, Order>();
  for (const order of orders) {
    if (isExpired(order, now)) continue;
    byId.set(order.id, order);
    if (order.externalOrderId !== null) byExternalId.set(order.externalOrderId, order);
  }
  return ({ id, testMode, externalOrderId }) => {
    const named = id === null ? undefined : byId.get(id);
    if (named?.testMode === testMode) return named;
    return externalOrderId === null ? undefined : byExternalId.get(externalOrderId);
  };
}
