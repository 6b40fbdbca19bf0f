import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { deleteDeliveriesOfOrders } from "../../webhooks/log/erase-deliveries-sql.ts";
import { deleteEventsOfOrders } from "../../webhooks/publishing/events-sql.ts";

/**
 * Erases expired test orders, with all data that belongs to them: lines, shipments, events, deliveries and attempts
 * (specification, part 3, rule 4). Orders that are not due, or no longer due, are left alone. Returns how many it
 * erased.
 */
export async function eraseTestOrders(
  context: Context,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<number> {
  return inTransaction(context, (tx) => eraseOrders(tx, connection, orderIds, now));
}

async function eraseOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<number> {
  const erased = await deleteExpiredOrders(tx, connection, orderIds, now);
  await deleteEventsOfOrders(tx, connection, erased);
  await deleteDeliveriesOfOrders(tx, connection, erased);
  return erased.length;
}

async function deleteExpiredOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "delete-expired-orders",
    text: `
      delete from orders
      where merchant_id = $1 and connection_id = $2 and id = any($3::uuid[]) and test_mode and expires_at <= $4
      returning id`,
    values: [connection.merchantId, connection.connectionId, orderIds, now],
  });
  return rows.map(({ id }) => id);
}

/** Orders taken in one transaction: small enough that it is short. */
const BATCH_SIZE = 500;

/** Erases a batch of a connection's expired test orders; returns how many. */
export async function eraseExpiredTestOrders(context: Context, connection: ConnectionKey): Promise<number> {
  const now = context.clock.now();
  return inTransaction(context, async (tx) => {
    const expired = await lockExpiredOrders(tx, connection, now, BATCH_SIZE);
    return eraseOrders(tx, connection, expired, now);
  });
}

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
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.test_mode and o.expires_at <= $1
        order by o.expires_at
        limit 1) as expired
      order by expired.expires_at`,
    values: [now],
  });
  return rows.map(toConnectionKey);
}

/** Locks expired test orders of one connection; skips those that are locked. Uses orders_expires_idx. */
async function lockExpiredOrders(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>({
    name: "lock-expired-orders",
    text: `
      select id
      from orders
      where merchant_id = $1 and connection_id = $2 and test_mode and expires_at <= $3
      order by expires_at
      limit $4
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, limit],
  });
  return rows.map(({ id }) => id);
}
