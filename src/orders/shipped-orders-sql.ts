import type { Queryable } from "../database/database.ts";
import { hasDuePayment } from "../payments/due-payments-sql.ts";

/** Nothing is left to do for the order `o`; the money part is the payments' own. Uses orders_status_idx. */
const DONE = `o.status = 'IN_PROGRESS' and not o.test_mode and o.hold_reasons = '{}'
          and not exists (
            select from order_lines l
            where l.connection_id = o.connection_id and l.order_id = o.id and l.shipment_id is null)
          and not ${hasDuePayment("o")}`;

/** Connections with orders that complete by themselves now. A scan over all shards. */
export async function listConnectionsWithShippedOrders(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ connection_id: string }>({
    name: "list-connections-with-shipped-orders",
    text: `
      select c.id as connection_id
      from connections c
      join merchants m on m.id = c.merchant_id
      where m.complete_when_shipped
        and exists (select from orders o where o.connection_id = c.id and ${DONE})`,
    values: [],
  });
  return rows.map((row) => row.connection_id);
}

/** Locks such orders of one connection; those that somebody else is at are passed over. */
export async function lockShippedOrders(
  tx: Queryable,
  connectionId: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "lock-shipped-orders",
    text: `
      select o.id
      from orders o
      where o.connection_id = $1 and ${DONE}
      order by o.id
      limit $2
      for no key update skip locked`,
    values: [connectionId, limit],
  });
  return rows.map(({ id }) => id);
}
