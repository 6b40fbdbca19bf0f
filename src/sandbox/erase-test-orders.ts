import type { Database, Queryable } from "../database/database.ts";
import { deleteEventsOfOrders } from "../events/events-sql.ts";

/**
 * Erases test orders whose time is over, with everything that belongs to them: lines, shipments and events
 * (specification, part 3, rule 4). Orders that are not, or no longer, due are left alone. Answers how many it erased.
 */
export async function eraseTestOrders(
  db: Database,
  connectionId: string,
  orderIds: readonly string[],
  now: Date,
): Promise<number> {
  return db.transaction(async (tx) => {
    const erased = await deleteExpiredOrders(tx, connectionId, orderIds, now);
    await deleteEventsOfOrders(tx, connectionId, erased);
    return erased.length;
  });
}

async function deleteExpiredOrders(
  tx: Queryable,
  connectionId: string,
  orderIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "delete-expired-orders",
    text: `
      delete from orders
      where connection_id = $1 and id = any($2::uuid[]) and test_mode and expires_at <= $3
      returning id`,
    values: [connectionId, orderIds, now],
  });
  return rows.map(({ id }) => id);
}

export type ExpiredOrders = { readonly connectionId: string; readonly orderIds: readonly string[] };

/** Test orders whose time is over, by connection, the oldest first. A scan over all shards. Uses orders_expires_idx. */
export async function listExpiredOrders(db: Queryable, now: Date, limit: number): Promise<ExpiredOrders[]> {
  const rows = await db.query<{ connection_id: string; id: string }>({
    name: "list-expired-orders",
    text: `
      select connection_id, id
      from orders
      where test_mode and expires_at <= $1
      order by expires_at
      limit $2`,
    values: [now, limit],
  });
  const byConnection = Map.groupBy(rows, (row) => row.connection_id);
  return [...byConnection].map(([connectionId, group]) => ({
    connectionId,
    orderIds: group.map(({ id }) => id),
  }));
}
