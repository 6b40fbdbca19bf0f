import type { OrderState } from "../../lifecycle/order.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ORDER_STATE, type OrderStateRow, toOrderState } from "../changes/lock-orders-sql.ts";

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

/**
 * Locks due orders of one connection, except given ones; those that another transaction has locked are skipped. Uses
 * orders_acceptance_due_idx.
 */
export async function lockDueOrders(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<OrderState[]> {
  const rows = await tx.query<OrderStateRow>({
    name: "lock-due-orders",
    text: `
      select ${ORDER_STATE}
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2
        and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}' and o.acceptance_due_at <= $3
        and o.id <> all($4::uuid[])
      order by o.acceptance_due_at
      limit $5
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, except, limit],
  });
  return rows.map(toOrderState);
}

/** Locks one order, if it is due and no other transaction has locked it. */
export async function lockDueOrder(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
  orderId: string,
): Promise<OrderState[]> {
  const rows = await tx.query<OrderStateRow>({
    name: "lock-due-order",
    text: `
      select ${ORDER_STATE}
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $4
        and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}' and o.acceptance_due_at <= $3
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, now, orderId],
  });
  return rows.map(toOrderState);
}
