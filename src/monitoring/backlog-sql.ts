import type { Queryable } from "../platform/database/database.ts";
import { momentOf } from "../platform/ids.ts";

// Waiting work, for monitoring. Scans over all shards, of small tables or along their indexes.

/** Deliveries that could be sent now: due, not under way, to an endpoint that is neither paused nor held. */
export async function readDueDeliveries(
  db: Queryable,
  now: Date,
): Promise<{ count: number; oldestAgeSeconds: number }> {
  const [row] = await db.query<{ count: bigint; oldest_due_at: Date | null }>({
    name: "read-due-deliveries",
    text: `
      select coalesce(sum(due.count), 0)::bigint as count, min(due.oldest_due_at) as oldest_due_at
      from webhook_endpoints w
      join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
      cross join lateral (
        select count(*) as count, min(d.due_at) as oldest_due_at
        from due_deliveries d
        where d.merchant_id = w.merchant_id and d.connection_id = w.connection_id and d.endpoint_id = w.id and d.due_at <= $1
          and (d.leased_until is null or d.leased_until <= $1)) as due
      where w.status = 'active' and (s.backoff_until is null or s.backoff_until <= $1)`,
    values: [now],
  });
  const oldest = row?.oldest_due_at ?? now;
  return { count: Number(row?.count ?? 0), oldestAgeSeconds: (now.getTime() - oldest.getTime()) / 1_000 };
}

export async function countPausedEndpoints(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-paused-endpoints",
    text: "select count(*)::integer as count from webhook_endpoints where status = 'paused'",
    values: [],
  });
  return row?.count ?? 0;
}

export async function countQueuedMails(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-queued-mails",
    text: "select count(*)::integer as count from outgoing_mails where sent_at is null and failed_at is null",
    values: [],
  });
  return row?.count ?? 0;
}

/** Since when the oldest real order waits for its acceptance; null when none does. */
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
          and o.status = 'NEW' and not o.test_mode and not o.hold_reasons @> '{payment_failed}' and o.acceptance_due_at <= $1
        order by o.acceptance_due_at
        limit 1) as due`,
    values: [now],
  });
  return row?.since ?? null;
}

/** Since when the oldest test order waits for its erasure. */
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

/** Since when the oldest mail could be sent. */
export async function readOldestDueMail(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-due-mail",
    text: `
      select min(due_at) as since
      from outgoing_mails
      where sent_at is null and failed_at is null and due_at <= $1`,
    values: [now],
  });
  return row?.since ?? null;
}

/** Since when the oldest recovery of an endpoint is under way. */
export async function readOldestRecovery(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ id: string }>({
    name: "read-oldest-recovery",
    text: `
      select id
      from webhook_recoveries
      where finished_at is null and (pass = 1 or until <= $1)
      order by id
      limit 1`,
    values: [now],
  });
  return row === undefined ? null : momentOf(row.id);
}

/** Since when the oldest order waits for its facility: since it last changed, which is mostly its acceptance. */
export async function readOldestUnroutedOrder(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-unrouted-order",
    text: `
      select min(unrouted.updated_at) as since
      from connections c
      cross join lateral (
        select o.updated_at
        from orders o
        where o.merchant_id = c.merchant_id and o.connection_id = c.id and o.status = 'ACCEPTED' and not o.test_mode and o.routed_at is null
          and not o.hold_reasons && '{payment_failed,out_of_stock,address_unserviceable}'
        order by o.id
        limit 1) as unrouted`,
    values: [],
  });
  return row?.since ?? null;
}

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

/** Real orders on hold by reason; reasons that are none of these are counted as `other`. Uses orders_held_idx. */
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

/** Since when the oldest payment could be processed. */
export async function readOldestDuePayment(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>({
    name: "read-oldest-due-payment",
    text: `
      select min(due_at) as since
      from due_payments
      where due_at <= $1 and (leased_until is null or leased_until <= $1)`,
    values: [now],
  });
  return row?.since ?? null;
}
