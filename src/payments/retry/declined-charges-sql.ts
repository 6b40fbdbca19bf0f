import type { OrderKey } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * A merchant's orders after a position of which a charge or refund was ever declined, in the order of their ids: those of at most
 * `limit` declines. Uses ledger_outcomes_failed_idx.
 */
export async function listDeclinedOrders(
  db: Queryable,
  merchantId: string,
  position: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ order_id: string }>({
    name: "list-declined-orders",
    text: `
      select distinct page.order_id
      from (
        select order_id
        from ledger_outcomes
        where merchant_id = $1 and outcome = 'failed' and order_id > $2
        order by order_id
        limit $3) as page
      order by page.order_id`,
    values: [merchantId, position, limit],
  });
  return rows.map(({ order_id }) => order_id);
}

/**
 * Those of the orders with a declined charge that is still owed and has no scheduled attempt, in the order of their ids. Such an
 * order need not be on hold: it may have been completed since.
 */
export async function listGivenUpOrders(
  db: Queryable,
  merchantId: string,
  orderIds: readonly string[],
): Promise<OrderKey[]> {
  if (orderIds.length === 0) return [];
  const rows = await db.query<{ connection_id: string; id: string }>({
    name: "list-given-up-orders",
    text: `
      select distinct o.connection_id, o.id
      from ledger_outcomes x
      join ledger_entries e on e.merchant_id = $1 and e.order_id = x.order_id and e.id = x.entry_id
      join orders o on o.merchant_id = $1 and o.id = x.order_id
      where x.merchant_id = $1 and x.order_id = any($2::uuid[]) and x.outcome = 'failed' and e.kind <> 'refund'
        and o.canceled_at is null
        and not exists (
          select from ledger_entries later
          where later.merchant_id = $1 and later.order_id = e.order_id
            and later.kind = e.kind and later.attempt > e.attempt)
      order by o.id`,
    values: [merchantId, orderIds],
  });
  return rows.map((row) => ({ merchantId, connectionId: row.connection_id, id: row.id }));
}
