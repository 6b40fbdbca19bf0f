import type { Queryable } from "../../platform/database/database.ts";

/**
 * Nothing is left to do for the order `o`. Whether anything is, is asked for one order after the other: the planner turns
 * `not exists` into a join, and then reads all lines of all orders for a few that are in progress. Uses orders_status_idx.
 */
const DONE = `o.status = 'IN_PROGRESS' and not o.test_mode and o.hold_reasons = '{}'
          and (
            select true from order_lines l
            where l.connection_id = o.connection_id and l.order_id = o.id and l.shipment_id is null
            limit 1) is null
          and (
            select true from due_payments d
            where d.connection_id = o.connection_id and d.order_id = o.id
            limit 1) is null`;

/** Connections with orders that complete by themselves now. A scan over all shards. */
export async function listConnectionsWithShippedOrders(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ connection_id: string }>({
    name: "list-connections-with-shipped-orders",
    text: `
      select c.id as connection_id
      from connections c
      join merchants m on m.id = c.merchant_id
      cross join lateral (
        select o.id
        from orders o
        where o.connection_id = c.id and ${DONE}
        limit 1) as done
      where m.complete_when_shipped`,
    values: [],
  });
  return rows.map((row) => row.connection_id);
}

/** Locks such orders of one connection, except given ones; those that somebody else is at are passed over. */
export async function lockShippedOrders(
  tx: Queryable,
  connectionId: string,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "lock-shipped-orders",
    text: `
      select o.id
      from orders o
      where o.connection_id = $1 and ${DONE} and o.id <> all($2::uuid[])
      order by o.id
      limit $3
      for no key update skip locked`,
    values: [connectionId, except, limit],
  });
  return rows.map(({ id }) => id);
}

/** Locks one order, if it is such a one and nobody else is at it. */
export async function lockShippedOrder(
  tx: Queryable,
  connectionId: string,
  orderId: string,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "lock-shipped-order",
    text: `
      select o.id
      from orders o
      where o.connection_id = $1 and o.id = $2 and ${DONE}
      for no key update skip locked`,
    values: [connectionId, orderId],
  });
  return rows.map(({ id }) => id);
}
