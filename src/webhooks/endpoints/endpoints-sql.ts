import type { EventType } from "../../events/event-types.ts";
import type { KeyMode } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import type { Endpoint, EndpointKey, EndpointSettings, PauseReason } from "./endpoint.ts";

export type EndpointRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  number: number;
  url: string;
  description: string | null;
  event_types: EventType[];
  mode: KeyMode;
  status: "active" | "paused";
  pause_reason: PauseReason | null;
  paused_at: Date | null;
  in_flight_max: number;
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
      select merchant_id, connection_id, id, number, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, created_at, updated_at
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
      select merchant_id, connection_id, id, number, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, created_at, updated_at
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
      select merchant_id, connection_id, id, number, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, created_at, updated_at
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
      select merchant_id, connection_id, id, number, url, description, event_types, mode, status, pause_reason, paused_at,
             in_flight_max, created_at, updated_at
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
      insert into webhook_endpoints (merchant_id, connection_id, id, number, url, description, event_types, mode, status,
                                     in_flight_max, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $10, 'active', $8, $9, $9)`,
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
}

/** The caller has locked the endpoint. */
export async function updateEndpointSettings(
  tx: Queryable,
  endpoint: EndpointKey,
  { url, description, eventTypes, inFlightMax }: EndpointSettings,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "update-endpoint-settings",
    text: `
      update webhook_endpoints
      set url = $4, description = $5, event_types = $6, in_flight_max = $7, updated_at = $8
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
    ],
  });
}

/** Makes a paused endpoint active, as if it had never failed. The caller has locked it. */
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
      set consecutive_failures = 0, failing_since = null, last_failure_at = null, backoff_until = null,
          last_success_at = $4, warnings_sent = 0
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now],
  });
}

/** The row stays for the log of its deliveries. The caller has locked the endpoint. */
export async function markEndpointDeleted(tx: Queryable, endpoint: EndpointKey, now: Date): Promise<void> {
  await tx.query({
    name: "mark-endpoint-deleted",
    text: `
      update webhook_endpoints
      set status = 'deleted', pause_reason = null, paused_at = null, updated_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id, now],
  });
}

export const toEndpoint = (row: EndpointRow): Endpoint => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  number: row.number,
  url: row.url,
  description: row.description,
  eventTypes: row.event_types,
  mode: row.mode,
  status: row.status,
  pauseReason: row.pause_reason,
  pausedAt: row.paused_at,
  inFlightMax: row.in_flight_max,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
