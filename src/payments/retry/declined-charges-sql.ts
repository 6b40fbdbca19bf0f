import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * A merchant's orders with a declined charge that is still owed and has no scheduled attempt, oldest first. Such an
 * order need not be on hold: it may have been completed since. Uses ledger_outcomes_failed_idx.
 */
export async function listGivenUpOrders(db: Queryable, merchantId: string): Promise<OrderKey[]> {
  const rows = await db.query<{ connection_id: string; id: string }>({
    name: "list-given-up-orders",
    text: `
      select distinct o.connection_id, o.id
      from ledger_outcomes x
      join ledger_entries e on e.merchant_id = $1 and e.order_id = x.order_id and e.id = x.entry_id
      join orders o on o.merchant_id = $1 and o.id = x.order_id
      where x.merchant_id = $1 and x.outcome = 'failed' and e.kind <> 'refund' and o.canceled_at is null
        and not exists (
          select from ledger_entries later
          where later.merchant_id = $1 and later.order_id = e.order_id
            and later.kind = e.kind and later.attempt > e.attempt)
      order by o.id`,
    values: [merchantId],
  });
  return rows.map((row) => ({ merchantId, connectionId: row.connection_id, id: row.id }));
}
