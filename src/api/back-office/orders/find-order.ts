import { Type } from "typebox";
import { readLedger } from "../../../ledger/ledger-sql.ts";
import { asOf, isExpired } from "../../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../../lifecycle/order.ts";
import { readTimeline } from "../../../orders/changes/timeline-sql.ts";
import { findOrderPlace, type OrderPlace, readOrderPrices } from "../../../orders/lists/list-orders-sql.ts";
import { readOrders } from "../../../orders/orders-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { fromTypeId } from "../../../platform/ids.ts";
import { type BackOfficeCaller, maySee } from "../access.ts";
import { toBackOfficeOrder } from "./order-schemas.ts";

export const OrderIdParams = Type.Object({ id: Type.String({ description: "Id of the order." }) });

export type FoundOrder = { readonly order: Order; readonly place: OrderPlace };

/** Where the order that a path names belongs; null when there is none, or none that the caller may see. */
export async function findPlace(
  { db }: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<(OrderPlace & OrderKey) | null> {
  const id = fromTypeId("ord", text) ?? fromTypeId("test", text);
  const place = id === null ? null : await findOrderPlace(db, id);
  if (place === null || !maySee(caller, place.merchantId)) return null;
  return (fromTypeId("test", text) !== null) === place.testMode ? place : null;
}

/** The order that a path names, as it stands now; null when there is none, or none that the caller may see. */
export async function findOrder(
  context: Context,
  caller: BackOfficeCaller,
  text: string,
): Promise<FoundOrder | null> {
  const place = await findPlace(context, caller, text);
  if (place === null) return null;
  const now = context.clock.now();
  const [order] = await readOrders(context.db, place, [place.id]);
  return order === undefined || isExpired(order, now) ? null : { order: asOf(order, now), place };
}

/** The order with everything that the back office shows of it. */
export async function describeOrder({ db }: Context, { order, place }: FoundOrder) {
  const [prices, charges, timeline] = await Promise.all([
    readOrderPrices(db, order, order.id),
    readLedger(db, order, order.id),
    readTimeline(db, order, order.id),
  ]);
  return toBackOfficeOrder(order, place, { prices, charges, timeline });
}
