import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { expired } from "../conditions-sql.ts";

/** Connections that have test orders whose time is over, the one that waits longest first. A scan over all shards. */
export async function listConnectionsWithExpiredOrders(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-expired-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.expires_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${expired("$1")}
        order by o.expires_at
        limit 1) as expired
      order by expired.expires_at`,
    values: [now],
  });
  return rows.map(toConnectionKey);
}

/** Locks expired test orders of one connection; skips those that are locked. Uses orders_expires_idx. */
export async function lockExpiredOrders(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "lock-expired-orders",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and ${expired("$3")}
      order by o.expires_at
      limit $4
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, limit],
  });
  return rows.map(({ id }) => id);
}

/** Deletes those of these test orders that have expired, with their lines and shipments. Returns their ids. */
export async function deleteExpiredOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "delete-expired-orders",
    text: `
      delete from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[]) and ${expired("$4")}
      returning o.id`,
    values: [connection.merchantId, connection.connectionId, orderIds, now],
  });
  return rows.map(({ id }) => id);
}
