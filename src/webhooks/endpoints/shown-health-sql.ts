import { type ConnectionScope, scopeIds } from "../../audit/grant.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { before, DAY_MS } from "../../platform/time.ts";

/** The health of an endpoint as partners see it. */
export type ShownHealth = {
  readonly succeededAt: Date | null;
  readonly consecutiveFailures: number;
  readonly backoffUntil: Date | null;
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastError: string | null;
  /** When the first of its deliveries is due that no worker has claimed. Null if there is none. */
  readonly nextDueAt: Date | null;
  /** Heads of streams that are due or in progress, at most PENDING_COUNT_MAX. */
  readonly pendingCount: number;
  readonly behind: Behind;
};

/** What an endpoint has not accepted yet of its orders: it is behind with an order that has a head. */
export type Behind = {
  /** Of the first PENDING_COUNT_MAX heads. */
  readonly orderCount: number;
  /** Pending deliveries of these orders, at most PENDING_COUNT_MAX. */
  readonly eventCount: number;
  /** When the oldest event happened that these orders wait with. Null if there is none. */
  readonly oldestSince: Date | null;
};

/** Up to this number, pending deliveries of an endpoint are counted (docs/design/deliveries.md, "Endpoints"). */
export const PENDING_COUNT_MAX = 1_000;

/** The health of these endpoints, by id. */
export async function readShownHealth(
  db: Queryable,
  endpoints: readonly (ConnectionKey & { readonly id: string })[],
): Promise<ReadonlyMap<string, ShownHealth>> {
  if (endpoints.length === 0) return new Map();
  const rows = await db.query<{
    endpoint_id: string;
    succeeded_at: Date | null;
    consecutive_failures: number;
    backoff_until: Date | null;
    failing_since: Date | null;
    last_failure_at: Date | null;
    last_error: string | null;
    next_due_at: Date | null;
    pending_count: number;
    orders_behind: number;
    oldest_behind: string | null;
    events_behind: number;
  }>({
    name: "read-shown-health",
    text: `
      select s.endpoint_id, s.succeeded_at, s.consecutive_failures, s.backoff_until, s.failing_since, s.last_failure_at,
             s.last_error,
             (select d.due_at
              from due_deliveries d
              where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
                and d.claim_id is null
              order by d.due_at
              limit 1) as next_due_at,
             heads.pending_count, heads.orders_behind, heads.oldest_behind,
             (select count(*)::integer
              from (
                select
                from due_deliveries d
                cross join lateral (
                  select
                  from deliveries l
                  where l.merchant_id = d.merchant_id and l.stream_id = d.stream_id and l.endpoint_id = d.endpoint_id
                    and l.status = 'pending'
                  limit 1000) as waiting
                where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
                  and d.stream_id not in (d.event_id, d.delivery_id)
                limit 1000) as counted) as events_behind
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as shown (merchant_id, connection_id, endpoint_id)
      join webhook_endpoint_states s on s.merchant_id = shown.merchant_id and s.connection_id = shown.connection_id
        and s.endpoint_id = shown.endpoint_id
      cross join lateral (
        select count(*)::integer as pending_count, (count(*) filter (where head.is_of_order))::integer as orders_behind,
               min(head.event_id::text) filter (where head.is_of_order) as oldest_behind
        from (
          -- The stream of an event about no order is the event, and that of a manual redelivery the delivery.
          select d.event_id, d.stream_id not in (d.event_id, d.delivery_id) as is_of_order
          from due_deliveries d
          where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
          limit 1000) as head) as heads`,
    values: [
      endpoints.map(({ merchantId }) => merchantId),
      endpoints.map(({ connectionId }) => connectionId),
      endpoints.map(({ id }) => id),
    ],
  });
  return new Map(
    rows.map((row) => [
      row.endpoint_id,
      {
        succeededAt: row.succeeded_at,
        consecutiveFailures: row.consecutive_failures,
        backoffUntil: row.backoff_until,
        failingSince: row.failing_since,
        lastFailureAt: row.last_failure_at,
        lastError: row.last_error,
        nextDueAt: row.next_due_at,
        pendingCount: row.pending_count,
        behind: {
          orderCount: row.orders_behind,
          eventCount: row.events_behind,
          oldestSince: row.oldest_behind === null ? null : momentOf(row.oldest_behind),
        },
      },
    ]),
  );
}

/** Deliveries that `countLogged` reads, at most. */
const LOGGED_READ_MAX = 5_000;

/** How many deliveries of an endpoint since an id have this status. Null if there are too many to count. */
export async function countLogged(
  db: Queryable,
  { merchantId, connectionId, id }: ConnectionKey & { readonly id: string },
  sinceId: string,
  status: "pending" | "failed",
): Promise<number | null> {
  const [row] = await db.query<{ count: number; read: number }>({
    name: "count-logged-deliveries",
    text: `
      select (count(*) filter (where counted.status = $5))::integer as count, count(*)::integer as read
      from (
        select d.status
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $3 and d.id >= $4
        limit 5000 + 1) as counted`,
    values: [merchantId, connectionId, id, sinceId, status],
  });
  return row === undefined || row.read > LOGGED_READ_MAX ? null : row.count;
}

/** Deliveries whose outcomes are read, of all owners together, or DELIVERIES_OF_OWNER of each. */
const DELIVERIES_READ_MAX = 3_000;
const DELIVERIES_OF_OWNER = 5;

export type DeliveryFigures = {
  readonly succeeded: number;
  /** With their first attempt. */
  readonly succeededAtOnce: number;
  readonly failed: number;
  readonly pending: number;
  /** From the event to the end of the attempt that succeeded. Null without one. */
  readonly medianDelayMs: number | null;
  readonly p90DelayMs: number | null;
};

/**
 * The newest deliveries of the last 24 hours of the owners in a scope, by their ids. An id begins with the time of
 * the event in milliseconds.
 */
export async function readDeliveryFigures(
  db: Queryable,
  scope: ConnectionScope,
  now: Date,
): Promise<DeliveryFigures> {
  const ownerCount = await countOwners(db, scope);
  const rowsMax = Math.max(DELIVERIES_OF_OWNER, Math.floor(DELIVERIES_READ_MAX / Math.max(1, ownerCount)));
  const [row] = await db.query<{
    succeeded: number;
    succeeded_at_once: number;
    failed: number;
    pending: number;
    p50: number | null;
    p90: number | null;
  }>({
    name: "read-delivery-figures",
    text: `
      select count(*) filter (where d.status = 'succeeded')::integer as succeeded,
             count(*) filter (where sent.is_first)::integer as succeeded_at_once,
             count(*) filter (where d.status = 'failed')::integer as failed,
             count(*) filter (where d.status = 'pending')::integer as pending,
             percentile_cont(0.5) within group (order by sent.delay_ms) as p50,
             percentile_cont(0.9) within group (order by sent.delay_ms) as p90
      from webhook_owners o
      cross join lateral (
        select d.merchant_id, d.id, d.status, d.started_at, d.duration_ms
        from deliveries d
        where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.id >= $3
        order by d.id desc
        limit $4) as d
      left join lateral (
        select extract(epoch from coalesce(d.started_at, min(a.started_at) filter (where a.error is null)))::float8 * 1000
                 + coalesce(d.duration_ms, min(a.duration_ms) filter (where a.error is null))
                 - ('x' || left(replace(d.id::text, '-', ''), 12))::bit(48)::bigint as delay_ms,
               coalesce(d.started_at, min(a.started_at) filter (where a.error is null))
                 = least(d.started_at, min(a.started_at)) as is_first
        from attempts a
        where a.merchant_id = d.merchant_id and a.delivery_id = d.id and a.id >= $3) as sent on d.status = 'succeeded'
      where $1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2::uuid[])`,
    values: [...scopeIds(scope), uuidAt(before(now, DAY_MS)), rowsMax],
  });
  const rounded = (ms: number | null | undefined) => (ms == null ? null : Math.max(0, Math.round(ms)));
  return {
    succeeded: row?.succeeded ?? 0,
    succeededAtOnce: row?.succeeded_at_once ?? 0,
    failed: row?.failed ?? 0,
    pending: row?.pending ?? 0,
    medianDelayMs: rounded(row?.p50),
    p90DelayMs: rounded(row?.p90),
  };
}

/**
 * A statement of its own: Citus limits no part of a join by a value that it has to read first
 * (docs/design/distribution.md, "Merchant by merchant").
 */
async function countOwners(db: Queryable, scope: ConnectionScope): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-owners-of-figures",
    text: `
      select count(*)::integer as count
      from webhook_owners o
      where $1::uuid[] is null or o.merchant_id = any($1) or o.connection_id = any($2::uuid[])`,
    values: scopeIds(scope),
  });
  return row?.count ?? 0;
}

/** Some endpoints, and since when the first of them is as it is. */
export type UnhealthyEndpoints = { readonly count: number; readonly oldestAt: Date | null };

/** Active endpoints whose last attempt failed, and paused ones, of a scope. Small tables. */
export async function countUnhealthyEndpoints(
  db: Queryable,
  scope: ConnectionScope,
): Promise<{ paused: UnhealthyEndpoints; failing: UnhealthyEndpoints }> {
  const rows = await db.query<UnhealthyEndpoints & { kind: "paused" | "failing" }>({
    name: "count-unhealthy-endpoints",
    text: `
      select case w.status when 'paused' then 'paused' else 'failing' end as kind, count(*)::integer as count,
             min(case w.status when 'paused' then w.paused_at else coalesce(s.failing_since, s.last_failure_at) end) as "oldestAt"
      from webhook_endpoints w
      join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
      where (w.status = 'paused' or w.status = 'active' and s.consecutive_failures > 0)
        and ($1::uuid[] is null or w.merchant_id = any($1) or w.connection_id = any($2::uuid[]))
      group by 1`,
    values: scopeIds(scope),
  });
  const of = (kind: string) => rows.find((row) => row.kind === kind) ?? { count: 0, oldestAt: null };
  return { paused: of("paused"), failing: of("failing") };
}
