import type { OrderKey } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { listConnectionsWithOrders } from "../owners-sql.ts";

/** Connections that have test orders whose time is over. */
export const listConnectionsWithExpiredOrders = (db: Queryable, now: Date): Promise<ConnectionKey[]> =>
  listConnectionsWithOrders(db, {
    name: "list-connections-with-expired-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.expires_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ($1::uuid[] is null or o.merchant_id = any($1))
          and o.test_mode and o.expires_at <= $2
        order by o.expires_at
        limit 1) as oldest
      where ($1::uuid[] is null or c.merchant_id = any($1))
      order by oldest.expires_at`,
    values: [now],
  });

/**
 * Marks a connection's expired test orders for erasure: their keys and external ids become free
 * (docs/design/creating-orders.md, "One key space"). Skips orders that are locked, so that it never waits. What was ordered is
 * looked up for each, because a plan for the join may read all that the merchant's orders have for each of them.
 */
export async function markExpiredOrders(
  db: Queryable,
  connection: ConnectionKey,
  now: Date,
  limit: number,
): Promise<void> {
  await db.query({
    name: "mark-expired-orders",
    text: `
      update order_requests
      set idempotency_key = null, external_order_id = null
      where merchant_id = $1 and order_id = any(array(
        select o.id
        from orders o
        cross join lateral (
          select
          from order_requests r
          where r.merchant_id = $1 and r.order_id = o.id and r.idempotency_key is not null
          limit 1) as unmarked
        where o.merchant_id = $1 and o.connection_id = $2 and o.test_mode and o.expires_at <= $3
        order by o.expires_at
        limit $4
        for update of o skip locked))`,
    values: [connection.merchantId, connection.connectionId, now, limit],
  });
}

/** Lets test orders of a connection expire now that would expire later, at most `limit`. Returns how many. */
export async function expireTestOrders(
  db: Queryable,
  connection: ConnectionKey,
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "expire-test-orders",
    text: `
      update orders
      set expires_at = greatest($3, created_at) -- The clock of another process may be ahead.
      where merchant_id = $1 and connection_id = $2 and id in (
        select o.id
        from orders o
        where o.merchant_id = $1 and o.connection_id = $2 and o.test_mode and o.expires_at > greatest($3, o.created_at)
        order by o.expires_at
        limit $4
        for update skip locked)
      returning id`,
    values: [connection.merchantId, connection.connectionId, now, limit],
  });
  return rows.length;
}

/** Marks those of these orders that have expired, for a creation that needs their keys. */
export async function markTheseExpired(
  db: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  now: Date,
): Promise<void> {
  await db.query({
    name: "mark-these-expired",
    text: `
      update order_requests
      set idempotency_key = null, external_order_id = null
      where merchant_id = $1 and order_id = any(array(
        select o.id
        from orders o
        where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[]) and o.test_mode and o.expires_at <= $4
        for update skip locked))`,
    values: [connection.merchantId, connection.connectionId, orderIds, now],
  });
}

/** Marks a test order that is locked, so that it expires now: its key and external id are free at the commit. */
export async function markErased(tx: Queryable, order: OrderKey, now: Date): Promise<void> {
  await tx.query({
    name: "mark-erased",
    text: `
      update orders
      set expires_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3 and test_mode`,
    values: [order.merchantId, order.connectionId, order.id, now],
  });
  await tx.query({
    name: "free-keys",
    text: `
      update order_requests
      set idempotency_key = null, external_order_id = null
      where merchant_id = $1 and order_id = $2 and test_mode`,
    values: [order.merchantId, order.id],
  });
}

/** Locks marked test orders of one connection; skips those that are locked. Uses orders_expires_idx. */
export async function lockErasedOrders(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  limit: number,
): Promise<{ id: string; createdAt: Date }[]> {
  const rows = await tx.query<{ id: string; created_at: Date }>({
    name: "lock-erased-orders",
    text: `
      select o.id, o.created_at
      from orders o
      cross join lateral (
        select
        from order_requests r
        where r.merchant_id = $1 and r.order_id = o.id and r.idempotency_key is null
        limit 1) as marked
      where o.merchant_id = $1 and o.connection_id = $2 and o.test_mode and o.expires_at <= $3
      order by o.expires_at
      limit $4
      for update of o skip locked`,
    values: [connection.merchantId, connection.connectionId, now, limit],
  });
  return rows.map((row) => ({ id: row.id, createdAt: row.created_at }));
}

/** Deletes at most `limit` entries of the orders' timelines. Returns how many. */
export async function eraseTimelines(
  tx: Queryable,
  { merchantId }: ConnectionKey,
  orderIds: readonly string[],
  limit: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "erase-timelines",
    text: `
      with picked as materialized (
        select t.ctid as row_position
        from timeline_entries t
        where t.merchant_id = $1 and t.order_id = any($2::uuid[])
        limit $3
      ), deleted as (
        delete from timeline_entries t
        where t.merchant_id = $1 and t.ctid = any(array(select p.row_position from picked p)) -- Entries never change.
        returning t.id
      )
      select count(*)::integer as count
      from deleted`,
    values: [merchantId, orderIds, limit],
  });
  return row?.count ?? 0;
}

/**
 * Deletes orders that are locked, with what was ordered, their lines and their shipments. Only shipments have a key that would delete them
 * (docs/design/database.md, "Foreign keys").
 */
export async function deleteOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<void> {
  const values = [connection.merchantId, connection.connectionId, orderIds];
  await tx.query({
    name: "delete-erased-lines",
    text: "delete from order_lines where merchant_id = $1 and connection_id = $2 and order_id = any($3::uuid[])",
    values,
  });
  await tx.query({
    name: "delete-erased-requests",
    text: "delete from order_requests where merchant_id = $1 and order_id = any($2::uuid[])",
    values: [connection.merchantId, orderIds],
  });
  await tx.query({
    name: "delete-erased-orders",
    text: "delete from orders where merchant_id = $1 and connection_id = $2 and id = any($3::uuid[])",
    values,
  });
}
