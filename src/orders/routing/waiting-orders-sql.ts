import { amongMerchants, merchantsOf } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Database } from "../../platform/database/database.ts";
import { readToLimits } from "../../platform/database/transaction-settings.ts";
import { shareOf } from "../../platform/run-in-turn.ts";
import { WAITS_FOR_SUPPLY } from "../conditions-sql.ts";

/** Waiting orders that one statement reads, whether they fit or not. */
const READ_MAX = 500;

export type WaitingOrder = ConnectionKey & { readonly id: string };

/** The largest quantity of a product that one order can get. */
export type ProductSupply = { readonly productId: string; readonly unitsMax: number };

/** How far a walk through the waiting orders of a merchant has come. */
export type MerchantPosition = { readonly merchantId: string; readonly afterId: string };

/** Orders that fit, and by merchant how far its orders have been read: null if no order waits after them. */
export type MerchantsPage = {
  readonly orders: readonly WaitingOrder[];
  readonly ends: ReadonlyMap<string, string | null>;
};

/** A position in the list of the waiting orders of all merchants, which is sorted by merchant and id. */
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
 * Waiting orders of these merchants that contain any of the products, in no larger quantity than is available, the oldest of
 * each merchant first. Each merchant is read from its own position by orders_waiting_idx, and has an equal share of what a
 * statement reads (decision 0216).
 */
export async function listOrdersWaitingForProducts(
  db: Database,
  positions: readonly MerchantPosition[],
  supplies: readonly ProductSupply[],
  limit: number,
): Promise<MerchantsPage> {
  if (positions.length === 0) return { orders: [], ends: new Map() };
  const share = shareOf(READ_MAX, positions.length);
  const rows = await readPage(db, {
    name: "list-orders-waiting-for-products",
    text: `
      select waiting.*
      from merchants m
      cross join lateral (
        select o.merchant_id, o.connection_id, o.id,
               exists (
                 select
                 from order_lines l
                 where l.merchant_id = o.merchant_id and l.order_id = o.id and l.product_id = any($4::uuid[])
                   and ${amongMerchants("$6", "l.merchant_id")}
                 group by l.product_id
                 having sum(l.quantity) <= ($5::integer[])[array_position($4::uuid[], l.product_id)]) as fits
        from orders o
        where o.merchant_id = m.id and o.id > ($2::uuid[])[array_position($1::uuid[], m.id)] and ${WAITS_FOR_SUPPLY}
          and ${amongMerchants("$6", "o.merchant_id")}
        order by o.id
        limit $3) as waiting
      where m.id = any($1::uuid[])
      order by waiting.merchant_id, waiting.id`,
    values: [
      positions.map(({ merchantId }) => merchantId),
      positions.map(({ afterId }) => afterId),
      share,
      supplies.map(({ productId }) => productId),
      supplies.map(({ unitsMax }) => unitsMax),
      await merchantsOf(db, positions),
    ],
  });
  return merchantsPageOf(rows, positions, share, limit);
}

/** A merchant with an order that fits and is not on the page continues before it. */
function merchantsPageOf(
  rows: readonly Row[],
  positions: readonly MerchantPosition[],
  share: number,
  limit: number,
): MerchantsPage {
  const fitting = rows.filter(({ fits }) => fits);
  const left = new Set(fitting.slice(limit));
  const rowsOf = Map.groupBy(rows, (row) => row.merchant_id);
  const endOf = ({ merchantId, afterId }: MerchantPosition): string | null => {
    const own = rowsOf.get(merchantId) ?? [];
    const next = own.findIndex((row) => left.has(row));
    if (next === -1 && own.length < share) return null;
    return (next === -1 ? own : own.slice(0, next)).at(-1)?.id ?? afterId;
  };
  return {
    orders: fitting.slice(0, limit).map(toWaitingOrder),
    ends: new Map(positions.map((position) => [position.merchantId, endOf(position)])),
  };
}

/** An estimate of few orders for each merchant must not make PostgreSQL read and sort all those of a merchant that has many. */
const readPage = (db: Database, statement: Parameters<Database["query"]>[0]): Promise<Row[]> =>
  db.transaction(async (tx) => {
    await readToLimits(tx);
    return tx.query<Row>(statement);
  });

const toWaitingOrder = (row: Row): WaitingOrder => ({ ...toConnectionKey(row), id: row.id });

/**
 * Waiting orders to some countries, the oldest of each merchant first. A scan over all shards; uses orders_waiting_idx.
 */
export async function listOrdersWaitingForCountries(
  db: Database,
  after: WaitingPosition,
  countryCodes: readonly string[],
  limit: number,
): Promise<WaitingPage> {
  let isWhole = true;
  const rows = await searchReachable(db, "list-orders-waiting-for-countries", (merchants) => {
    isWhole = merchants === null;
    return readPage(db, {
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
    orders: fitting.slice(0, limit).map(toWaitingOrder),
    end: last ? { merchantId: last.merchant_id, orderId: last.id } : null,
    isWhole,
  };
}
