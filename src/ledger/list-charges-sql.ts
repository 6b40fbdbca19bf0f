import type { Queryable } from "../platform/database/database.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import type { FoundCharge } from "./find-charge-sql.ts";
import type { EntryKind, EntryStatus } from "./ledger.ts";
import { LEDGER_ENTRY, type LedgerRow, toEntry } from "./ledger-sql.ts";

/** Which charges are listed. A null restricts nothing. */
export type ChargeFilter = {
  readonly kind: EntryKind | null;
  readonly status: EntryStatus | null;
  /** Orders with ids from `sinceId` on, and before `untilId`: ids sort by the time of creation. */
  readonly sinceId: string;
  readonly untilId: string;
};

/** A charge in the list: the newest order first, and of an order the newest charge. */
export type ChargePosition = { readonly orderId: string; readonly id: string };

export type ListedCharge = FoundCharge & { readonly externalOrderId: string | null };

export type ChargePage = {
  readonly charges: readonly ListedCharge[];
  /** Where reading ended, if it ended before the page was full. Null if all were read. */
  readonly readTo: ChargePosition | null;
};

type ListedRow = LedgerRow & {
  merchant_id: string;
  gateway_reference: string | null;
  processed_at: Date | null;
  external_order_id: string | null;
};
type PageRow = Partial<ListedRow> & { read_count: number; last_order_id: string; last_id: string };

/**
 * The charges and refunds of a merchant's orders. Reads at most ROWS_READ_MAX along the primary key. Returns one more
 * than the page if there is one.
 */
export async function listCharges(
  db: Queryable,
  merchantId: string,
  { kind, status, sinceId, untilId }: ChargeFilter,
  after: ChargePosition,
  limit: number,
): Promise<ChargePage> {
  const rows = await db.query<PageRow>({
    name: "list-charges",
    text: `
      with part as materialized (
        select g.merchant_id, g.order_id, g.id
        from ledger_entries g
        where g.merchant_id = $1 and (g.order_id, g.id) < ($2::uuid, $3::uuid)
          and g.order_id >= $4 and g.order_id < $5
        order by g.order_id desc, g.id desc
        limit ${ROWS_READ_MAX}
      ), ending as (
        select count(*)::integer as read_count, (array_agg(p.order_id order by p.order_id, p.id))[1] as last_order_id,
               (array_agg(p.id order by p.order_id, p.id))[1] as last_id
        from part p
      )
      select n.read_count, n.last_order_id, n.last_id, f.*
      from ending n
      left join lateral (
        select e.merchant_id, ${LEDGER_ENTRY}, x.gateway_reference, x.created_at as processed_at, o.external_order_id
        from part p
        join ledger_entries e on e.merchant_id = $1 and e.order_id = p.order_id and e.id = p.id
        join orders o on o.merchant_id = $1 and o.id = e.order_id
        left join ledger_outcomes x on x.merchant_id = $1 and x.order_id = e.order_id and x.entry_id = e.id
        where ($6::text is null or e.kind = $6) and ($7::text is null or coalesce(x.outcome, 'pending') = $7)
        order by e.order_id desc, e.id desc
        limit $8 + 1
      ) as f on true
      order by f.order_id desc, f.id desc`,
    values: [merchantId, after.orderId, after.id, sinceId, untilId, kind, status, limit],
  });
  const [first] = rows;
  return {
    charges: rows.filter(isCharge).map(toListed),
    readTo: first?.read_count === ROWS_READ_MAX ? { orderId: first.last_order_id, id: first.last_id } : null,
  };
}

/** The join returns one row without an id if none fits. */
const isCharge = (row: PageRow): row is PageRow & ListedRow => typeof row.id === "string";

const toListed = (row: ListedRow): ListedCharge => ({
  ...toEntry(row),
  merchantId: row.merchant_id,
  orderId: row.order_id,
  externalOrderId: row.external_order_id,
  gatewayReference: row.gateway_reference,
  processedAt: row.processed_at,
});
