import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { WAITS_FOR_SUPPLY } from "../conditions-sql.ts";

/** Waiting orders that one statement reads, whether they fit or not. */
const READ_MAX = 500;

export type WaitingOrder = ConnectionKey & { readonly id: string };

/** The largest quantity of a product that one order can get. */
export type ProductSupply = {
  readonly merchantId: string;
  readonly productId: string;
  readonly unitsMax: number;
};

/** A place in the list of waiting orders, which is sorted by merchant and id. */
export type WaitingPosition = { readonly merchantId: string; readonly orderId: string };

/**
 * Orders that fit, and how far the list has been read. `end` is null if no order waits after the given position.
 * `isWhole`: all merchants were searched. While a node of Citus is down, some are not.
 */
export type WaitingPage = {
  readonly orders: readonly WaitingOrder[];
  readonly end: WaitingPosition | null;
  readonly isWhole: boolean;
};

type Row = ConnectionKeyRow & { id: string; fits: boolean };

/**
 * Waiting orders of the products' merchants that contain any of these products, in no larger quantity than is available, the
 * oldest of each merchant first. Uses orders_waiting_idx.
 */
export async function listOrdersWaitingForProducts(
  db: Queryable,
  after: WaitingPosition,
  supplies: readonly ProductSupply[],
  limit: number,
): Promise<WaitingPage> {
  const rows = await db.query<Row>({
    name: "list-orders-waiting-for-products",
    text: `
      select o.merchant_id, o.connection_id, o.id,
             exists (
               select
               from order_lines l
               where l.merchant_id = o.merchant_id and l.order_id = o.id and l.product_id = any($4::uuid[])
                 and l.merchant_id = any($3::uuid[])
               group by l.product_id
               having sum(l.quantity) <= ($5::integer[])[array_position($4::uuid[], l.product_id)]) as fits
      from orders o
      where ${WAITS_FOR_SUPPLY} and (o.merchant_id, o.id) > ($1, $2) and o.merchant_id = any($3::uuid[])
      order by o.merchant_id, o.id
      limit ${READ_MAX}`,
    values: [
      after.merchantId,
      after.orderId,
      [...new Set(supplies.map(({ merchantId }) => merchantId))],
      supplies.map(({ productId }) => productId),
      supplies.map(({ unitsMax }) => unitsMax),
    ],
  });
  return pageOf(rows, limit, true);
}

/**
 * Waiting orders to some countries, the oldest of each merchant first. A scan over all shards; uses orders_waiting_idx.
 */
export async function listOrdersWaitingForCountries(
  db: Queryable,
  after: WaitingPosition,
  countryCodes: readonly string[],
  limit: number,
): Promise<WaitingPage> {
  let isWhole = true;
  const rows = await searchReachable(db, "list-orders-waiting-for-countries", (merchants) => {
    isWhole = merchants === null;
    return db.query<Row>({
      name: "list-orders-waiting-for-countries",
      text: `
        select o.merchant_id, o.connection_id, o.id, o.country_code = any($3::text[]) as fits
        from orders o
        where ${WAITS_FOR_SUPPLY} and (o.merchant_id, o.id) > ($1, $2) and ${amongMerchants("$4", "o.merchant_id")}
        order by o.merchant_id, o.id
        limit ${READ_MAX}`,
      values: [after.merchantId, after.orderId, countryCodes, merchants],
    });
  });
  return pageOf(rows, limit, isWhole);
}

/** Ends after the last order that was read, or after the last of the page if more of them fit. */
function pageOf(rows: readonly Row[], limit: number, isWhole: boolean): WaitingPage {
  const fitting = rows.filter(({ fits }) => fits);
  const last = fitting.length > limit ? fitting[limit - 1] : rows.at(-1);
  return {
    orders: fitting.slice(0, limit).map((row) => ({ ...toConnectionKey(row), id: row.id })),
    end: last ? { merchantId: last.merchant_id, orderId: last.id } : null,
    isWhole,
  };
}
