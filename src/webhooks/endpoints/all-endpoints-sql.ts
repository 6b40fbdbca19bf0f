import { type ConnectionScope, scopeIds } from "../../access/scope.ts";
import type { KeyMode } from "../../merchants/key-mode.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type PagePosition, ROWS_READ_MAX } from "../../platform/wire/cursor.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ShownHealthStatus } from "./endpoint-status.ts";
import { type EndpointRow, toEndpoint } from "./endpoints-sql.ts";

/** What a list of endpoints is filtered by. Null does not filter. */
export type EndpointFilter = {
  readonly scope: ConnectionScope;
  /** `unhealthy` stands for all but `healthy`. */
  readonly health: ShownHealthStatus | "unhealthy" | null;
  readonly mode: KeyMode | null;
};

/** Endpoints that fit the filter. `readTo` is the last one that was read if reading ended before the page was full. */
type ListedEndpoints = { readonly endpoints: readonly Endpoint[]; readonly readTo: string | null };

/** As `healthStatusOf` decides it. $3 is the time. */
const HEALTH = `
                 case
                   when w.status = 'paused' then 'paused'
                   when s.backoff_until > $3 then 'backing_off'
                   when s.consecutive_failures > 0 then 'failing'
                   else 'healthy'
                 end`;

/**
 * The oldest endpoints after a position that fit, one more than the page if there is one. No index has the health, which
 * changes often, so a page reads at most ROWS_READ_MAX endpoints.
 */
const oldestIn = (scope: string): string => `
      select *
      from (
        select w.merchant_id, w.connection_id, w.id, w.number, w.url, w.description, w.event_types, w.mode, w.status,
               w.pause_reason, w.paused_at, w.in_flight_max, w.created_at, w.updated_at,
               ($5::text is null or w.mode = $5)
                 and case when $4::text is null then true when $4 = 'unhealthy' then ${HEALTH} <> 'healthy'
                     else ${HEALTH} = $4 end as fits,
               row_number() over (order by w.id) = ${ROWS_READ_MAX} as is_last
        from webhook_endpoints w
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        where w.status <> 'deleted' and w.id > $1 and ${scope}
        order by w.id
        limit ${ROWS_READ_MAX}) as e
      where e.fits or e.is_last
      order by e.id
      limit $2 + 1`;

/** Lists the endpoints of all connections, or of those of a scope, oldest first, without deleted ones. */
export async function listAllEndpoints(
  db: Queryable,
  { scope, health, mode }: EndpointFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<ListedEndpoints> {
  const rows = await db.query<EndpointRow & { fits: boolean; is_last: boolean }>({
    name: `list-endpoints-of-${nameOf(scope)}`,
    text: oldestIn(CONDITIONS[nameOf(scope)]),
    values: [afterId, limit, now, health, mode, ...scopeIds(scope)],
  });
  const last = rows.at(-1);
  return {
    endpoints: rows.filter(({ fits }) => fits).map(toEndpoint),
    readTo: last?.is_last ? last.id : null,
  };
}

/** A condition for each kind of scope, so that each has the plan that suits it. Each names both parameters. */
const CONDITIONS = {
  all: "$6::uuid[] is null and $7::uuid[] is not null",
  merchants: "w.merchant_id = any($6::uuid[]) and $7::uuid[] is not null",
  connections: "(w.merchant_id = any($6::uuid[]) or w.connection_id = any($7::uuid[]))",
} as const;

const nameOf = (scope: ConnectionScope): keyof typeof CONDITIONS =>
  scope === null ? "all" : scope.connections.length === 0 ? "merchants" : "connections";
