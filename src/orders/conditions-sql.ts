import { PAYMENT_FAILED } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";

// SQL conditions on the order `o`, for the lists of orders, whose filters combine them. Each repeats the condition of a
// partial index. Their values are literals, not parameters: otherwise PostgreSQL could not use the index.

/**
 * The acceptance window is open, or has closed and the acceptance is not stored yet. Served by
 * orders_acceptance_due_idx.
 */
export const AWAITS_ACCEPTANCE = `o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{${PAYMENT_FAILED}}'`;

/**
 * The acceptance window has closed. By the rules the order is accepted, and this has to be stored
 * (docs/design/lifecycle.md, "The deadline decides").
 */
export const acceptanceDue = (now: `$${number}`): string =>
  `${AWAITS_ACCEPTANCE} and o.acceptance_due_at <= ${now}`;

/**
 * A failed payment suspends the acceptance window (docs/design/lifecycle.md, "A failed payment is a hold"). Served by
 * orders_held_idx.
 */
export const ACCEPTANCE_SUSPENDED = `o.status = 'NEW' and not o.test_mode and o.hold_reasons <> '{}' and o.hold_reasons @> '{${PAYMENT_FAILED}}'`;

/**
 * All orders of the connection `c`, by what was ordered, `r`, in the order of their ids. Served by order_requests_connection_idx,
 * of which it names the condition.
 */
export const OF_CONNECTION = `r.merchant_id = c.merchant_id and r.connection_id = c.id
            and r.order_id > '00000000-0000-0000-0000-000000000000'`;

/** A part of the order, which may be a test order, can be shipped now. */
export const SHIPPABLE = `o.has_unshipped and o.routed_at is not null and o.status in ('ACCEPTED', 'IN_PROGRESS')
            and o.hold_reasons = '{}'`;

// The backlog of orders, for metrics and `doctor`. Scans over all shards, each along an index.

/** When the acceptance window closed of the oldest order that is due for acceptance. Null if there is none. */
export async function readOldestDueOrder(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-due-order",
    text: `
      select min(due.acceptance_due_at) as since
      from connections c
      cross join lateral (
        select o.acceptance_due_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id
          and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}'
          and o.acceptance_due_at <= $1
        order by o.acceptance_due_at
        limit 1) as due`,
    values: [now],
  });
  return row?.since ?? null;
}

/** When the oldest test order expired that has not been erased. Null if there is none. */
export async function readOldestExpiredOrder(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-expired-order",
    text: `
      select min(expired.expires_at) as since
      from connections c
      cross join lateral (
        select o.expires_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.test_mode and o.expires_at <= $1
        order by o.expires_at
        limit 1) as expired`,
    values: [now],
  });
  return row?.since ?? null;
}

/**
 * When the oldest order that is due for routing last changed, which is usually its acceptance. Null if there is none.
 */
export async function readOldestUnroutedOrder(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-unrouted-order",
    text: `
      select min(unrouted.updated_at) as since
      from connections c
      cross join lateral (
        select o.updated_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id
          and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and not o.hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}'
        order by o.id
        limit 1) as unrouted`,
    values: [],
  });
  return row?.since ?? null;
}

/** Real orders that wait for a review. */
export async function countOrdersInReview(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-orders-in-review",
    text: `
      select coalesce(sum(waiting.count), 0)::integer as count
      from connections c
      cross join lateral (
        select count(*) as count
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'PROCESSING' and not o.test_mode) as waiting`,
    values: [],
  });
  return row?.count ?? 0;
}

/** Real orders on hold, by reason. Reasons that are not given count as `other`. Uses orders_held_idx. */
export async function countHeldOrders(
  db: Queryable,
  reasons: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ reason: string; count: number }>({
    name: "count-held-orders",
    text: `
      select case when reason = any($1::text[]) then reason else 'other' end as reason, count(*)::integer as count
      from orders o
      cross join lateral unnest(o.hold_reasons) as reason
      where o.hold_reasons <> '{}' and not o.test_mode
      group by 1`,
    values: [reasons],
  });
  return new Map(rows.map(({ reason, count }) => [reason, count]));
}
