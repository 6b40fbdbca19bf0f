import { acceptanceOf, type RecordContext } from "../../lifecycle/applied-transition.ts";
import type { Order } from "../../lifecycle/order.ts";
import { storeTransitions } from "../../orders/changes/store-transitions.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import { lockUnroutedOrders } from "../../orders/routing/routing-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { assignFacilities } from "../routing/assign-facilities.ts";

/**
 * Does at once for one order what workers do within a second: stores an acceptance by the deadline, and routes the
 * order. So an order can be shipped right after its acceptance. The effect stays if the shipping is rejected.
 *
 * @param order locked by the transaction, and read under the lock
 * @returns the order after that
 */
export async function prepareShipping(tx: Queryable, order: Order, at: RecordContext): Promise<Order> {
  const acceptance = acceptanceOf(order, at.now);
  if (acceptance !== null) await storeTransitions(tx, [acceptance], at);
  const accepted = acceptance?.after ?? order;
  if (accepted.status !== "ACCEPTED" || accepted.routedAt !== null) return accepted;
  const selection = { connections: [order], share: 1, only: [order.id], except: [] };
  const unrouted = await lockUnroutedOrders(tx, selection);
  if (unrouted.length === 0) return accepted;
  await assignFacilities(tx, unrouted, at);
  const [routed] = await readOrders(tx, order, [order.id]);
  return routed ?? accepted;
}
