import { type ConnectionScope, scopeIds } from "../../audit/grant.ts";
import { recordChanges } from "../../changes/record-changes.ts";
import type { KeyMode } from "../../merchants/api-key.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { folded, type SearchPatterns } from "../../platform/fold-text.ts";
import { uuidAt } from "../../platform/ids.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import { type OwnerKind, type OwnerNames, ownerKind } from "../owner.ts";
import type {
  Endpoint,
  EndpointEventType,
  EndpointKey,
  EndpointKind,
  PauseReason,
  ShownHealthStatus,
} from "./endpoint.ts";

type EndpointRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  number: number;
  kind: EndpointKind;
  url: string | null;
  description: string | null;
  event_types: EndpointEventType[];
  mode: KeyMode;
  status: "active" | "paused";
  pause_reason: PauseReason | null;
  paused_at: Date | null;
  in_flight_max: number;
  header_names: string[];
  sealed_headers: string | null;
  alert_email: string | null;
  created_at: Date;
  updated_at: Date;
};

/** Lists endpoints, oldest first, without deleted ones. Returns one row more than the page if there is one. */
export async function listEndpoints(
  db: Queryable,
  connection: ConnectionKey,
  { afterId, limit }: PagePosition,
): Promise<Endpoint[]> {
  const rows = await db.query<EndpointRow>({
    name: "list-endpoints",
    text: `
      select merchant_id, connection_id, id, number, kind, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, header_names, sealed_headers, alert_email, created_at, updated_at
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id > $3 and status <> 'deleted'
      order by id
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit],
  });
  return rows.map(toEndpoint);
}

export async function readEndpoint(
  db: Queryable,
  connection: ConnectionKey,
  endpointId: string,
): Promise<Endpoint | null> {
  const [row] = await db.query<EndpointRow>({
    name: "read-endpoint",
    text: `
      select merchant_id, connection_id, id, number, kind, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, header_names, sealed_headers, alert_email, created_at, updated_at
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3 and status <> 'deleted'`,
    values: [connection.merchantId, connection.connectionId, endpointId],
  });
  return row === undefined ? null : toEndpoint(row);
}

/**
 * Reads and locks an endpoint that is to be changed. Transactions that only write deliveries to it do not wait for this
 * lock.
 */
export async function lockEndpoint(
  tx: Queryable,
  connection: ConnectionKey,
  endpointId: string,
): Promise<Endpoint | null> {
  const [row] = await tx.query<EndpointRow>({
    name: "lock-endpoint",
    text: `
      select merchant_id, connection_id, id, number, kind, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, header_names, sealed_headers, alert_email, created_at, updated_at
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3 and status <> 'deleted'
      for no key update`,
    values: [connection.merchantId, connection.connectionId, endpointId],
  });
  return row === undefined ? null : toEndpoint(row);
}

/** Reads an endpoint and prevents that it is changed, paused or deleted before the transaction ends. */
export async function shareEndpoint(
  tx: Queryable,
  connection: ConnectionKey,
  endpointId: string,
): Promise<Endpoint | null> {
  const [row] = await tx.query<EndpointRow>({
    name: "share-endpoint",
    text: `
      select merchant_id, connection_id, id, number, kind, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, header_names, sealed_headers, alert_email, created_at, updated_at
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3 and status <> 'deleted'
      for share`,
    values: [connection.merchantId, connection.connectionId, endpointId],
  });
  return row === undefined ? null : toEndpoint(row);
}

/** How many endpoints of a mode a connection has, at most `countMax`. Deleted ones are not read. */
export async function countEndpoints(
  db: Queryable,
  connection: ConnectionKey,
  mode: KeyMode,
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-endpoints",
    text: `
      select count(*)::integer as count
      from (
        select
        from webhook_endpoints
        where merchant_id = $1 and connection_id = $2 and status <> 'deleted' and mode = $4
        limit $3) as counted`,
    values: [connection.merchantId, connection.connectionId, countMax, mode],
  });
  return row?.count ?? 0;
}

/** How many endpoints of a mode the connections of a merchant have, at most `countMax`. Deleted ones are not read. */
export async function countEndpointsOfMerchant(
  db: Queryable,
  merchantId: string,
  mode: KeyMode,
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-endpoints-of-merchant",
    text: `
      select count(*)::integer as count
      from (
        select
        from webhook_endpoints
        where merchant_id = $1 and status <> 'deleted' and mode = $3
        limit $2) as counted`,
    values: [merchantId, countMax, mode],
  });
  return row?.count ?? 0;
}

/**
 * How many endpoints of a mode, also deleted ones, were created since a time, at most `countMax`. Their ids are in time
 * order.
 */
export async function countEndpointsSince(
  db: Queryable,
  connection: ConnectionKey,
  { mode, since }: { mode: KeyMode; since: Date },
  countMax: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-endpoints-since",
    text: `
      select count(*)::integer as count
      from (
        select
        from webhook_endpoints
        where merchant_id = $1 and connection_id = $2 and id >= $3 and mode = $5
        limit $4) as counted`,
    values: [connection.merchantId, connection.connectionId, uuidAt(since), countMax, mode],
  });
  return row?.count ?? 0;
}

/** Writes a new, active endpoint and its initial state. */
export async function insertEndpoint(tx: Queryable, endpoint: Endpoint): Promise<void> {
  await tx.query({
    name: "insert-endpoint",
    text: `
      insert into webhook_endpoints (merchant_id, connection_id, id, number, kind, url, description, event_types, mode, status,
                                     in_flight_max, header_names, sealed_headers, alert_email, created_at, updated_at)
      values ($1, $2, $3, $4, $11, $5, $6, $7, $10, 'active', $8, $12, $13, $14, $9, $9)`,
    values: [
      endpoint.merchantId,
      endpoint.connectionId,
      endpoint.id,
      endpoint.number,
      endpoint.url,
      endpoint.description,
      endpoint.eventTypes,
      endpoint.inFlightMax,
      endpoint.createdAt,
      endpoint.mode,
      endpoint.kind,
      endpoint.headers.names,
      endpoint.headers.sealed,
      endpoint.alertEmail,
    ],
  });
  await tx.query({
    name: "insert-endpoint-state",
    text: `
      insert into webhook_endpoint_states (merchant_id, connection_id, endpoint_id, leased_until, consecutive_failures,
                                           last_success_at, warnings_sent)
      values ($1, $2, $3, $4, 0, $4, 0)`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, endpoint.createdAt],
  });
  recordEndpoint(tx, endpoint.createdAt, endpoint);
}

export const recordEndpoint = (tx: Queryable, now: Date, endpoint: EndpointKey, isGone = false): void => {
  const { merchantId, connectionId: ownerId, id: objectId } = endpoint;
  const kind = ownerKind(endpoint);
  const connectionId = kind === "connection" ? ownerId : null;
  const facilityId = kind === "facility" ? ownerId : null;
  recordChanges(tx, now, [{ merchantId, connectionId, facilityId, kind: "endpoint", objectId, isGone }]);
};

/** The caller has locked the endpoint. */
export async function updateEndpointSettings(
  tx: Queryable,
  endpoint: EndpointKey,
  { url, description, eventTypes, inFlightMax, headers, alertEmail }: Endpoint,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "update-endpoint-settings",
    text: `
      update webhook_endpoints
      set url = $4, description = $5, event_types = $6, in_flight_max = $7, updated_at = $8,
          header_names = $9, sealed_headers = $10, alert_email = $11
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [
      endpoint.merchantId,
      endpoint.connectionId,
      endpoint.id,
      url,
      description,
      eventTypes,
      inFlightMax,
      now,
      headers.names,
      headers.sealed,
      alertEmail,
    ],
  });
  recordEndpoint(tx, now, endpoint);
}

/**
 * Makes a paused endpoint active, as if it had never failed. Its deliveries that wait for a retry become due. The caller has
 * locked it.
 */
export async function activateEndpoint(tx: Queryable, endpoint: EndpointKey, now: Date): Promise<void> {
  await tx.query({
    name: "activate-endpoint",
    text: `
      update webhook_endpoints
      set status = 'active', pause_reason = null, paused_at = null, updated_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now],
  });
  await tx.query({
    name: "reset-endpoint-state",
    text: `
      update webhook_endpoint_states
      set consecutive_failures = 0, failing_since = null, last_failure_at = null, last_error = null,
          backoff_until = null, last_success_at = $4, warnings_sent = 0, recovered_at = $4, retries_due = true
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now],
  });
  recordEndpoint(tx, now, endpoint);
}

/** The row stays for the log of its deliveries. The caller has locked the endpoint. */
export async function markEndpointDeleted(tx: Queryable, endpoint: EndpointKey, now: Date): Promise<void> {
  await tx.query({
    name: "mark-endpoint-deleted",
    text: `
      update webhook_endpoints
      set status = 'deleted', pause_reason = null, paused_at = null, updated_at = $4, header_names = '{}', sealed_headers = null,
          alert_email = null
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now],
  });
  recordEndpoint(tx, now, endpoint, true);
}

const toEndpoint = (row: EndpointRow): Endpoint => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  number: row.number,
  kind: row.kind,
  url: row.url,
  description: row.description,
  eventTypes: row.event_types,
  mode: row.mode,
  status: row.status,
  pauseReason: row.pause_reason,
  pausedAt: row.paused_at,
  inFlightMax: row.in_flight_max,
  headers: { names: row.header_names, sealed: row.sealed_headers },
  alertEmail: row.alert_email,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** What a list of endpoints is filtered by. Null does not filter. */
export type EndpointFilter = {
  readonly scope: ConnectionScope;
  /** `unhealthy` stands for all but `healthy`. */
  readonly health: ShownHealthStatus | "unhealthy" | null;
  readonly mode: KeyMode | null;
  readonly owner: OwnerKind | null;
  /** A part of the address, the note or a name of the owner, or the id of the endpoint. */
  readonly searched: { readonly text: SearchPatterns; readonly id: string | null } | null;
};

/** Endpoints that fit the filter. `readTo` is the last one that was read if reading ended before the page was full. */
type ListedEndpoints = { readonly endpoints: readonly ListedEndpoint[]; readonly readTo: string | null };
export type ListedEndpoint = Endpoint & OwnerNames;

const SEARCHED = "concat_ws(chr(10), split_part(w.url, '?', 1), w.description, c.name, m.name, f.name)";

/**
 * The oldest endpoints after a position that fit, one more than the page if there is one. No index has the health, which
 * changes often, so a page reads at most ROWS_READ_MAX endpoints. The query of an address is not searched, because it holds
 * secrets that the caller may not see.
 */
const oldestIn = (scope: string): string => `
      select *
      from (
        select w.merchant_id, w.connection_id, w.id, w.number, w.kind, w.url, w.description, w.event_types, w.mode, w.status,
               w.pause_reason, w.paused_at, w.in_flight_max, w.header_names, w.sealed_headers, w.alert_email,
               w.created_at, w.updated_at,
               c.name as connection_name, m.name as merchant_name, f.name as facility_name,
               ($5::text is null or w.mode = $5)
                 and ($8::text is null or $8 = case -- As ownerKind decides it.
                   when w.merchant_id = '00000000-0000-0000-0000-000000000001' then 'facility'
                   when w.merchant_id = w.connection_id then 'merchant'
                   else 'connection'
                 end)
                 and ($4::text is null or $4 = health.status or $4 = 'unhealthy' and health.status <> 'healthy')
                 and ($9::text[] is null or w.id = $10 or ${folded(SEARCHED)} like any($9)) as fits,
               row_number() over (order by w.id) = 5000 as is_last
        from webhook_endpoints w
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        left join connections c on c.merchant_id = w.merchant_id and c.id = w.connection_id
        left join merchants m on m.id = w.merchant_id
        left join facilities f on f.id = w.connection_id
        cross join lateral ( -- As healthStatusOf decides it.
          select case
                   when w.status = 'paused' then 'paused'
                   when s.backoff_until > $3 then 'backing_off'
                   when s.consecutive_failures > 0 then 'failing'
                   else 'healthy'
                 end as status) as health
        where w.status <> 'deleted' and w.id > $1 and ${scope}
        order by w.id
        limit 5000) as e
      where e.fits or e.is_last
      order by e.id
      limit $2 + 1`;

/** Lists the endpoints of all owners, or of those of a scope, oldest first, without deleted ones. */
export async function listAllEndpoints(
  db: Queryable,
  { scope, health, mode, owner, searched }: EndpointFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<ListedEndpoints> {
  const rows = await db.query<ListedRow>({
    name: `list-endpoints-of-${nameOf(scope)}`,
    text: oldestIn(CONDITIONS[nameOf(scope)]),
    values: [
      ...[afterId, limit, now, health, mode],
      ...scopeIds(scope),
      ...[owner, searched?.text ?? null, searched?.id ?? null],
    ],
  });
  const last = rows.at(-1);
  return {
    endpoints: rows
      .filter(({ fits }) => fits)
      .map((row) => ({
        ...toEndpoint(row),
        connectionName: row.connection_name,
        merchantName: row.merchant_name,
        facilityName: row.facility_name,
      })),
    readTo: last?.is_last ? last.id : null,
  };
}

type ListedRow = EndpointRow & {
  connection_name: string | null;
  merchant_name: string | null;
  facility_name: string | null;
  fits: boolean;
  is_last: boolean;
};

/** A condition for each kind of scope, so that each has the plan that suits it. Each names both parameters. */
const CONDITIONS = {
  all: "$6::uuid[] is null and $7::uuid[] is not null",
  merchants: "w.merchant_id = any($6::uuid[]) and $7::uuid[] is not null",
  connections: "(w.merchant_id = any($6::uuid[]) or w.connection_id = any($7::uuid[]))",
} as const;

const nameOf = (scope: ConnectionScope): keyof typeof CONDITIONS =>
  scope === null ? "all" : scope.connections.length === 0 ? "merchants" : "connections";

/** Connections with deleted endpoints. A scan over all shards. */
export async function listConnectionsWithDeletedEndpoints(db: Queryable): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-deleted-endpoints", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-deleted-endpoints",
      text: `
        select o.merchant_id, o.connection_id
        from webhook_owners o
        where exists (
          select from webhook_endpoints w
          where w.merchant_id = o.merchant_id and w.connection_id = o.connection_id and w.status = 'deleted'
            and ($1::uuid[] is null or w.merchant_id = any($1)))
          and ($1::uuid[] is null or o.merchant_id = any($1))
        order by o.connection_id`,
      values: [merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/**
 * Reads a page of a connection's deleted endpoints after a position, and removes those of which nothing is left. Returns
 * the ids that it read, in order.
 */
export async function removeDeletedPage(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { position, deletedBefore, limit }: { position: string; deletedBefore: Date; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "remove-deleted-endpoints",
    text: `
      with page as materialized (
        select w.id, w.updated_at
        from webhook_endpoints w
        where w.merchant_id = $1 and w.connection_id = $2 and w.status = 'deleted' and w.id > $3
        order by w.id
        limit $5
      ), gone as materialized (
        select p.id
        from page p
        where p.updated_at < $4
          and not exists (select from deliveries d where d.merchant_id = $1 and d.endpoint_id = p.id)
          and not exists (select from due_deliveries q where q.merchant_id = $1 and q.endpoint_id = p.id)
          and not exists (select from webhook_secrets k where k.merchant_id = $1 and k.endpoint_id = p.id)
          and not exists (select from webhook_pull_leases l where l.merchant_id = $1 and l.endpoint_id = p.id)
      ), clearings as (
        delete from webhook_clearings c
        using gone g
        where c.merchant_id = $1 and c.endpoint_id = g.id
      ), recoveries as (
        delete from webhook_resends r
        using gone g
        where r.merchant_id = $1 and r.endpoint_id = g.id and r.in_order
      ), states as (
        delete from webhook_endpoint_states s
        using gone g
        where s.merchant_id = $1 and s.endpoint_id = g.id
      ), removed as (
        delete from webhook_endpoints w
        using gone g
        where w.merchant_id = $1 and w.id = g.id
      )
      select p.id
      from page p
      order by p.id`,
    values: [merchantId, connectionId, position, deletedBefore, limit],
  });
  return rows.map(({ id }) => id);
}
