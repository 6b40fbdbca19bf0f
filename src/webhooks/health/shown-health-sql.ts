import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** The health of an endpoint as partners see it. */
export type ShownHealth = {
  readonly succeededAt: Date | null;
  readonly consecutiveFailures: number;
  readonly backoffUntil: Date | null;
  /** Heads of streams that are due or in progress, at most PENDING_COUNT_MAX. */
  readonly pendingCount: number;
};

/** Up to this number, pending deliveries of an endpoint are counted (decision 0099). */
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
    pending_count: number;
  }>({
    name: "read-shown-health",
    text: `
      select s.endpoint_id, s.succeeded_at, s.consecutive_failures, s.backoff_until,
             (select count(*)::integer
              from (
                select
                from due_deliveries d
                where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
                limit ${PENDING_COUNT_MAX}) as counted) as pending_count
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as shown (merchant_id, connection_id, endpoint_id)
      join webhook_endpoint_states s on s.merchant_id = shown.merchant_id and s.connection_id = shown.connection_id
        and s.endpoint_id = shown.endpoint_id`,
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
        pendingCount: row.pending_count,
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
        limit ${LOGGED_READ_MAX} + 1) as counted`,
    values: [merchantId, connectionId, id, sinceId, status],
  });
  return row === undefined || row.read > LOGGED_READ_MAX ? null : row.count;
}
