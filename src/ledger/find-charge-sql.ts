import type { Queryable } from "../platform/database/database.ts";
import type { LedgerEntry } from "./ledger.ts";
import { LEDGER_ENTRY, type LedgerRow, toEntry } from "./ledger-sql.ts";

/** An entry of a ledger that was found by its id alone. */
export type FoundCharge = LedgerEntry & {
  readonly merchantId: string;
  readonly orderId: string;
  /** The gateway's id of the payment. Null unless it succeeded. */
  readonly gatewayReference: string | null;
  /** When the outcome was recorded. Null while it is pending. */
  readonly processedAt: Date | null;
};

type FoundRow = LedgerRow & {
  merchant_id: string;
  gateway_reference: string | null;
  processed_at: Date | null;
};

/**
 * A charge or a refund, by its id. Null if there is none. The first charge for goods has the id of its order; all others
 * are in ledger_entries_id_idx. A scan over all shards.
 */
export async function findCharge(db: Queryable, id: string): Promise<FoundCharge | null> {
  const [row] = await db.query<FoundRow>({
    name: "find-charge",
    text: `
      with found as materialized ( -- Of all shards. Citus joins only what it has read, and a limit makes it read.
        (select g.*
        from merchants m
        cross join lateral (
          select e.* from ledger_entries e where e.merchant_id = m.id and e.order_id = $1 and e.id = $1 offset 0) as g
        limit 1)
        union all
        (select x.*
        from merchants m
        join ledger_entries x on x.merchant_id = m.id
        where x.id = $1 and (x.kind <> 'goods' or x.attempt > 1)
        limit 1)
      )
      select e.merchant_id, ${LEDGER_ENTRY}, x.gateway_reference, x.created_at as processed_at
      from found e
      join orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
      left join ledger_outcomes x on x.merchant_id = o.merchant_id and x.order_id = o.id and x.entry_id = e.id`,
    values: [id],
  });
  if (row === undefined) return null;
  return {
    ...toEntry(row),
    merchantId: row.merchant_id,
    orderId: row.order_id,
    gatewayReference: row.gateway_reference,
    processedAt: row.processed_at,
  };
}
