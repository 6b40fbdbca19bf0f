import type { Queryable } from "../platform/database/database.ts";
import type { EntryKind, EntryStatus, GatewayName, LedgerEntry } from "./ledger.ts";

/** An entry of a ledger that was found by its id alone. */
export type FoundCharge = LedgerEntry & {
  readonly merchantId: string;
  readonly orderId: string;
  /** The gateway's id of the payment. Null unless it succeeded. */
  readonly gatewayReference: string | null;
  /** When the outcome was recorded. Null while it is pending. */
  readonly processedAt: Date | null;
};

type FoundRow = {
  merchant_id: string;
  order_id: string;
  id: string;
  kind: EntryKind;
  attempt: number;
  refund_of: string | null;
  refund_id: string | null;
  amount_minor: bigint;
  currency: string;
  status: EntryStatus;
  gateway: GatewayName | null;
  gateway_reference: string | null;
  reason: string | null;
  request_id: string | null;
  created_at: Date;
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
      with found as (
        select g.*
        from merchants m
        cross join lateral (
          select e.* from ledger_entries e where e.merchant_id = m.id and e.order_id = $1 and e.id = $1 offset 0) as g
        union all
        select x.*
        from merchants m
        join ledger_entries x on x.merchant_id = m.id
        where x.id = $1 and (x.kind <> 'goods' or x.attempt > 1)
      )
      select f.merchant_id, f.order_id, f.id, f.kind, f.attempt, f.refund_of, f.refund_id, f.amount_minor, o.currency,
             coalesce(x.outcome, 'pending') as status, x.gateway, x.gateway_reference, x.reason, f.request_id, f.created_at,
             x.created_at as processed_at
      from found f
      join orders o on o.merchant_id = f.merchant_id and o.id = f.order_id
      left join ledger_outcomes x on x.merchant_id = f.merchant_id and x.order_id = f.order_id and x.entry_id = f.id`,
    values: [id],
  });
  if (row === undefined) return null;
  return {
    merchantId: row.merchant_id,
    orderId: row.order_id,
    id: row.id,
    kind: row.kind,
    attempt: row.attempt,
    refundOf: row.refund_of,
    refundId: row.refund_id,
    amountMinor: row.amount_minor,
    currency: row.currency,
    status: row.status,
    gateway: row.gateway,
    gatewayReference: row.gateway_reference,
    failureReason: row.reason,
    requestId: row.request_id,
    createdAt: row.created_at,
    processedAt: row.processed_at,
  };
}
