import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { WAITS_FOR_SUPPLY } from "../conditions-sql.ts";

export type WaitingOrder = ConnectionKey & { readonly id: string };

/** The largest quantity of a product that one order can get. */
export type ProductSupply = {
  readonly merchantId: string;
  readonly productId: string;
  readonly unitsMax: number;
};

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
      where ${WAITS_FOR_SUPPLY} and o.id > $3 and ${amongMerchants("$5", "o.merchant_id")}
        and exists (
          select
          from order_lines l
          where l.merchant_id = o.merchant_id and l.order_id = o.id and l.product_id = any($1::uuid[])
            and ${amongMerchants("$5", "l.merchant_id")}
          group by l.product_id
          having sum(l.quantity) <= ($2::integer[])[array_position($1::uuid[], l.product_id)])
      order by o.id
      limit $4`,
    values: [
      supplies.map(({ productId }) => productId),
      supplies.map(({ unitsMax }) => unitsMax),
      afterId,
      limit,
      await merchantsOf(db, supplies),
    ],
  });
  return rows.map(toWaitingOrder);
}

/** A page of waiting orders, and whether all merchants were searched: while a node of Citus is down, some are not. */
export type WaitingPage = { readonly orders: readonly WaitingOrder[]; readonly isWhole: boolean };

/**
 * Waiting orders to some countries, oldest first, after a given order. A scan over all shards; uses
 * orders_routing_waiting_idx.
 */
export async function listOrdersWaitingForCountries(
  db: Queryable,
  countryCodes: readonly string[],
  afterId: string,
  limit: number,
): Promise<WaitingPage> {
  let isWhole = true;
  const rows = await searchReachable(db, "list-orders-waiting-for-countries", (merchants) => {
    isWhole = merchants === null;
    return db.query<ConnectionKeyRow & { id: string }>({
      name: "list-orders-waiting-for-countries",
      text: `
        select o.merchant_id, o.connection_id, o.id
        from orders o
        where ${WAITS_FOR_SUPPLY} and o.id > $2 and ${amongMerchants("$4", "o.merchant_id")}
          and o.country_code = any($1::text[])
        order by o.id
        limit $3`,
      values: [countryCodes, afterId, limit, merchants],
    });
  });
  return { orders: rows.map(toWaitingOrder), isWhole };
}

const toWaitingOrder = (row: ConnectionKeyRow & { id: string }): WaitingOrder => ({
  ...toConnectionKey(row),
  id: row.id,
});
