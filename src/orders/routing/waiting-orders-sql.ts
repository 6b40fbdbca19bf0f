import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { WAITS_FOR_SUPPLY } from "../conditions-sql.ts";

export type WaitingOrder = ConnectionKey & { readonly id: string };

/** The largest quantity of a product that one order can get. */
export type ProductSupply = { readonly productId: string; readonly unitsMax: number };

/**
 * Waiting orders that contain any of these products, in no larger quantity than is available. Oldest first, after a
 * given order. A scan over all shards; uses orders_routing_waiting_idx.
 */
export async function listOrdersWaitingForProducts(
  db: Queryable,
  supplies: readonly ProductSupply[],
  afterId: string,
  limit: number,
): Promise<WaitingOrder[]> {
  const rows = await db.query<ConnectionKeyRow & { id: string }>({
    name: "list-orders-waiting-for-products",
    text: `
      select o.merchant_id, o.connection_id, o.id
      from orders o
      where ${WAITS_FOR_SUPPLY} and o.id > $3
        and exists (
          select
          from order_lines l
          where l.merchant_id = o.merchant_id and l.order_id = o.id and l.product_id = any($1::uuid[])
          group by l.product_id
          having sum(l.quantity) <= ($2::integer[])[array_position($1::uuid[], l.product_id)])
      order by o.id
      limit $4`,
    values: [
      supplies.map(({ productId }) => productId),
      supplies.map(({ unitsMax }) => unitsMax),
      afterId,
      limit,
    ],
  });
  return rows.map(toWaitingOrder);
}

/**
 * Waiting orders to some countries, oldest first, after a given order. A scan over all shards; uses
 * orders_routing_waiting_idx.
 */
export async function listOrdersWaitingForCountries(
  db: Queryable,
  countryCodes: readonly string[],
  afterId: string,
  limit: number,
): Promise<WaitingOrder[]> {
  const rows = await db.query<ConnectionKeyRow & { id: string }>({
    name: "list-orders-waiting-for-countries",
    text: `
      select o.merchant_id, o.connection_id, o.id
      from orders o
      where ${WAITS_FOR_SUPPLY} and o.id > $2
        and o.country_code = any($1::text[])
      order by o.id
      limit $3`,
    values: [countryCodes, afterId, limit],
  });
  return rows.map(toWaitingOrder);
}

const toWaitingOrder = (row: ConnectionKeyRow & { id: string }): WaitingOrder => ({
  ...toConnectionKey(row),
  id: row.id,
});
