import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf } from "../platform/ids.ts";
import type { SecretBox } from "../platform/secret-box.ts";

// The backlog of webhooks, for metrics and `doctor`. Scans over all shards, of small tables.

/** Deliveries that could be sent now: due, not in progress, to an endpoint that is neither paused nor backed off. Programs fetch those of pull endpoints. */
export async function readDueDeliveries(
  db: Queryable,
  now: Date,
): Promise<{ count: number; oldestDueAt: Date | null }> {
  const [row] = await db.query<{ count: bigint; oldest_due_at: Date | null }>({
    name: "read-due-deliveries",
    text: `
      select coalesce(sum(due.count), 0)::bigint as count, min(due.oldest_due_at) as oldest_due_at
      from webhook_endpoints w
      join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
      cross join lateral (
        select count(*) as count, min(d.due_at) as oldest_due_at
        from due_deliveries d
        where d.merchant_id = w.merchant_id and d.connection_id = w.connection_id and d.endpoint_id = w.id
          and d.due_at <= $1 and (d.leased_until is null or d.leased_until <= $1)) as due
      where w.status = 'active' and w.url is not null and (s.backoff_until is null or s.backoff_until <= $1)`,
    values: [now],
  });
  return { count: Number(row?.count ?? 0), oldestDueAt: row?.oldest_due_at ?? null };
}

/** Orders whose newest event an active endpoint has not accepted, for each endpoint the first 1 000, and since when. */
export async function readOrdersBehind(db: Queryable): Promise<{ count: number; oldestSince: Date | null }> {
  const [row] = await db.query<{ count: number; oldest_event: string | null }>({
    name: "read-orders-behind",
    text: `
      select count(*)::integer as count, min(head.event_id::text) as oldest_event
      from webhook_endpoints w
      cross join lateral (
        select d.event_id
        from due_deliveries d
        where d.merchant_id = w.merchant_id and d.connection_id = w.connection_id and d.endpoint_id = w.id
          and d.stream_id not in (d.event_id, d.delivery_id)
        limit 1000) as head
      where w.status = 'active'`,
    values: [],
  });
  return { count: row?.count ?? 0, oldestSince: row?.oldest_event ? momentOf(row.oldest_event) : null };
}

export async function countPausedEndpoints(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-paused-endpoints",
    text: "select count(*)::integer as count from webhook_endpoints where status = 'paused'",
    values: [],
  });
  return row?.count ?? 0;
}

/** When the oldest recovery in progress was requested; null without one. */
export async function readOldestRecovery(db: Queryable, now: Date): Promise<Date | null> {
  const [row] = await db.query<{ id: string }>({
    name: "read-oldest-recovery",
    text: `
      select id
      from webhook_resends
      where in_order and finished_at is null and not (in_order and is_read and until > $1)
      order by id
      limit 1`,
    values: [now],
  });
  return row === undefined ? null : momentOf(row.id);
}

/** The context of webhook operations, which also need the encryption of signing secrets. */
export type WebhookContext = Context & { readonly secrets: SecretBox };
