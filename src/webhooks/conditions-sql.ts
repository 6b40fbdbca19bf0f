import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { momentOf } from "../platform/ids.ts";
import type { SecretBox } from "../platform/secret-box.ts";

// SQL conditions that several statements share. `now` is the parameter that holds the time.

/** No attempt of the due delivery `d` is in progress. */
export const isUnleased = (now: `$${number}`): string =>
  `(d.leased_until is null or d.leased_until <= ${now})`;

/** The due delivery `d` can be claimed. */
export const isClaimable = (now: `$${number}`): string => `d.due_at <= ${now} and ${isUnleased(now)}`;

/** The endpoint of the state `s` is not backed off. */
export const isNotBackedOff = (now: `$${number}`): string =>
  `(s.backoff_until is null or s.backoff_until <= ${now})`;

/** The endpoint of the state `s` belongs to no other worker. */
export const isFreeFor = (worker: `$${number}`, now: `$${number}`): string =>
  `(s.worker_id is null or s.worker_id = ${worker} or s.leased_until <= ${now})`;

/** The resend can be processed: a resume reads the log again when no earlier transaction is open any more. */
export const isProcessable = (now: `$${number}`): string =>
  `finished_at is null and not (in_order and is_read and until > ${now})`;

// The backlog of webhooks, for metrics and `doctor`. Scans over all shards, of small tables.

/** Deliveries that could be sent now: due, not in progress, to an endpoint that is neither paused nor backed off. */
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
          and ${isClaimable("$1")}) as due
      where w.status = 'active' and ${isNotBackedOff("$1")}`,
    values: [now],
  });
  return { count: Number(row?.count ?? 0), oldestDueAt: row?.oldest_due_at ?? null };
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
      where in_order and ${isProcessable("$1")}
      order by id
      limit 1`,
    values: [now],
  });
  return row === undefined ? null : momentOf(row.id);
}

/** The context of webhook operations, which also need the encryption of signing secrets. */
export type WebhookContext = Context & { readonly secrets: SecretBox };
