import type { Queryable } from "../platform/database/database.ts";
import { acceptanceDue, expired, UNROUTED } from "./conditions-sql.ts";

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
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${acceptanceDue("$1")}
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
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${expired("$1")}
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
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${UNROUTED}
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
