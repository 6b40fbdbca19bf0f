import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import { acceptanceDue } from "../conditions-sql.ts";
import type { OrderSearch } from "./order-search.ts";

/** The ids that a page may have: below `beforeId`, and from `fromId` on. */
export type SearchRange = { readonly beforeId: string; readonly fromId: string; readonly limit: number };

/** `fits` is false for the last row that was read, if only that is why it is returned. */
export type FoundRow = { readonly id: string; readonly fits: boolean; readonly isLast: boolean };

/**
 * Whether an order fits a search as partners see it at $6: if its deadline has passed, it is accepted, even if no worker
 * has stored that (decision 0012).
 */
const FITS = `(o.expires_at is null or o.expires_at > $6)
                 and ($7::text[] is null or (case when ${acceptanceDue("$6")} then 'ACCEPTED' else o.status end) = any($7))
                 and ($8::boolean is null or (o.hold_reasons <> '{}') = $8)
                 and ($9::boolean is null or o.test_mode = $9)
                 and ($10::timestamptz is null or o.created_at >= $10)
                 and ($11::timestamptz is null or o.created_at < $11)
                 and ($12::timestamptz is null or o.updated_at >= $12
                      or ${acceptanceDue("$6")} and o.acceptance_due_at >= $12)`;

/**
 * The newest orders of a connection that a search finds, one more than the page if there is one. Reads at most
 * ROWS_READ_MAX of them by their ids. The last of these is returned even if it does not fit, so that the next page can
 * continue after it. Uses orders_search_idx, whose condition the statement names.
 */
export async function listFoundOrders(
  db: Queryable,
  connection: ConnectionKey,
  search: OrderSearch,
  range: SearchRange,
  now: Date,
): Promise<FoundRow[]> {
  return db.query<FoundRow>({
    name: "search-orders",
    text: `
      select o.id, o.fits, o.is_last as "isLast"
      from (
        select o.id, (${FITS}) as fits, row_number() over (order by o.id desc) = ${ROWS_READ_MAX} as is_last
        from orders o
        where o.merchant_id = $1 and o.connection_id = $2 and o.id < $3 and o.id >= $4 and o.created_at > '-infinity'
        order by o.id desc
        limit ${ROWS_READ_MAX}) as o
      where o.fits or o.is_last
      order by o.id desc
      limit $5 + 1`,
    values: values(connection, search, range, now),
  });
}

/** The same for a search by ids of the partner. It reads no order with another one. */
export async function listOrdersNamed(
  db: Queryable,
  connection: ConnectionKey,
  search: OrderSearch & { readonly externalOrderIds: readonly string[] },
  range: SearchRange,
  now: Date,
): Promise<FoundRow[]> {
  return db.query<FoundRow>({
    name: "search-orders-named",
    text: `
      select o.id, true as fits, false as "isLast"
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.external_order_id = any($13::text[])
        and o.id < $3 and o.id >= $4 and ${FITS}
      order by o.id desc
      limit $5 + 1`,
    values: [...values(connection, search, range, now), search.externalOrderIds],
  });
}

const values = (
  { merchantId, connectionId }: ConnectionKey,
  search: OrderSearch,
  { beforeId, fromId, limit }: SearchRange,
  now: Date,
) => [
  merchantId,
  connectionId,
  beforeId,
  fromId,
  limit,
  now,
  search.statuses,
  search.onHold,
  search.testMode,
  search.createdSince,
  search.createdUntil,
  search.updatedSince,
];
