import type { TimedOrder } from "../../lifecycle/lifecycle.ts";
import type { OrderStatus } from "../../lifecycle/order.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { FeedPositions } from "../../webhooks/publishing/events-sql.ts";
import { NEXT_FEED_POSITION, toFeedPositions } from "../orders-sql.ts";

export type DueOrder = TimedOrder & { readonly id: string };

/** Connections that have real orders past their deadline, the one that waits longest first. A scan over all shards. */
export async function listConnectionsWithDueOrders(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-due-orders",
    text: `
      select c.merchant_id, c.id as connection_id
      from connections c
      cross join lateral (
        select o.acceptance_due_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id
          and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}' and o.acceptance_due_at <= $1
        order by o.acceptance_due_at
        limit 1) as due
      order by due.acceptance_due_at`,
    values: [now],
  });
  return rows.map(toConnectionKey);
}

type DueOrderRow = {
  id: string;
  status: OrderStatus;
  hold_reasons: string[];
  acceptance_due_at: Date | null;
  updated_at: Date;
};

/**
 * Locks due orders of one connection, except given ones; skips those that are locked. Uses orders_acceptance_due_idx.
 */
export async function lockDueOrders(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<DueOrder[]> {
  const rows = await tx.query<DueOrderRow>({
    name: "lock-due-orders",
    text: `
      select id, status, hold_reasons, acceptance_due_at, updated_at
      from orders
      where merchant_id = $1 and connection_id = $2
        and status = 'NEW' and not test_mode and not hold_reasons @> '{payment_failed}' and acceptance_due_at <= $3
        and id <> all($4::uuid[])
      order by acceptance_due_at
      limit $5
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, except, limit],
  });
  return rows.map(toDueOrder);
}

/** Locks one order, if it is due and not locked. */
export async function lockDueOrder(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  orderId: string,
): Promise<DueOrder[]> {
  const rows = await tx.query<DueOrderRow>({
    name: "lock-due-order",
    text: `
      select id, status, hold_reasons, acceptance_due_at, updated_at
      from orders
      where merchant_id = $1 and connection_id = $2 and id = $4
        and status = 'NEW' and not test_mode and not hold_reasons @> '{payment_failed}' and acceptance_due_at <= $3
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, orderId],
  });
  return rows.map(toDueOrder);
}

const toDueOrder = (row: DueOrderRow): DueOrder => ({
  id: row.id,
  status: row.status,
  holdReasons: row.hold_reasons,
  acceptanceDueAt: row.acceptance_due_at,
  updatedAt: row.updated_at,
});

/** Stores accepted orders of one connection; returns the positions of their events. The caller holds their locks. */
export async function saveAcceptances(
  tx: Queryable,
  connection: ConnectionKey,
  accepted: readonly DueOrder[],
): Promise<FeedPositions> {
  if (accepted.length === 0) return new Map();
  const updated = await tx.query<{ id: string; last_feed_position: string }>({
    name: "save-acceptances",
    text: `
      update orders o
      set status = accepted.status, updated_at = accepted.updated_at, last_feed_position = ${NEXT_FEED_POSITION}
      from unnest($3::uuid[], $4::text[], $5::timestamptz[]) as accepted (id, status, updated_at)
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = accepted.id
      returning o.id, o.last_feed_position`,
    values: [
      connection.merchantId,
      connection.connectionId,
      accepted.map(({ id }) => id),
      accepted.map(({ status }) => status),
      accepted.map(({ updatedAt }) => updatedAt),
    ],
  });
  return toFeedPositions(updated);
}
