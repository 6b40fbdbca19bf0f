import {
  type ConnectionKey,
  type ConnectionKeyRow,
  toConnectionKey,
} from "../../../platform/connection-key.ts";
import { plainArray } from "../../../platform/database/array-literal.ts";
import type { Queryable } from "../../../platform/database/database.ts";
import { momentOf, toTypeId } from "../../../platform/ids.ts";
import { isClaimable, isNotBackedOff } from "../../conditions-sql.ts";
import type { EndpointKey } from "../../endpoints/endpoint.ts";
import type { AttemptTrigger } from "../../log/delivery.ts";
import type { ClaimedDelivery, LeasedEndpoint, SendableEvent } from "../claimed-delivery.ts";

/** Connections with deliveries that may be sent now. Finds what no signal reported. A scan over all shards. */
export async function listConnectionsWithDueDeliveries(
  db: Queryable,
  workerId: string,
  now: Date,
): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-due-deliveries",
    text: `
      select distinct s.merchant_id, s.connection_id
      from webhook_endpoint_states s
      join webhook_endpoints w on w.merchant_id = s.merchant_id and w.id = s.endpoint_id
      where w.status = 'active'
        and (s.worker_id is null or s.worker_id = $1 or s.leased_until <= $2)
        and ${isNotBackedOff("$2")}
        and exists (
          select from due_deliveries d
          where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
            and ${isClaimable("$2")})`,
    values: [workerId, now],
  });
  return rows.map(toConnectionKey);
}

/** The claiming worker, the time of the claim, and the end of its lease. */
export type Claimant = { readonly workerId: string; readonly now: Date; readonly leasedUntil: Date };

/**
 * Leases the endpoints of a connection that have something due and belong to no other worker. An endpoint belongs to one
 * worker at a time, so that its limit of requests in flight holds for any number of workers.
 * @param options.due endpoints that are known to have something due, for which this is not checked
 * @param options.except endpoints that are not leased
 */
export async function leaseEndpoints(
  db: Queryable,
  connection: ConnectionKey,
  { workerId, now, leasedUntil }: Claimant,
  options: { due: readonly string[]; except: readonly string[]; healthyOnly: boolean },
): Promise<LeasedEndpoint[]> {
  const rows = await db.query<{
    id: string;
    url: string;
    in_flight_max: number;
    sealed_secrets: string[];
    consecutive_failures: number;
    failing_since: Date | null;
    last_failure_at: Date | null;
    last_success_at: Date;
    backoff_until: Date | null;
    warnings_sent: number;
  }>({
    name: "lease-endpoints",
    text: `
      update webhook_endpoint_states s
      set worker_id = $3, leased_until = $5
      from webhook_endpoints w
      where s.merchant_id = $1 and s.connection_id = $2
        and w.merchant_id = $1 and w.id = s.endpoint_id and w.status = 'active'
        and (s.worker_id is null or s.worker_id = $3 or s.leased_until <= $4)
        and ${isNotBackedOff("$4")}
        and (s.consecutive_failures = 0 or not $7)
        and s.endpoint_id <> all($6::uuid[])
        and (s.endpoint_id = any($8::uuid[]) or exists (
          select from due_deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = s.endpoint_id
            and ${isClaimable("$4")}))
      returning w.id, w.url, w.in_flight_max, s.consecutive_failures, s.failing_since, s.last_failure_at,
                s.last_success_at, s.backoff_until, s.warnings_sent,
                array(
                  select k.sealed
                  from webhook_secrets k
                  where k.merchant_id = $1 and k.endpoint_id = w.id and (k.expires_at is null or k.expires_at > $4)
                  order by k.created_at desc, k.id desc) as sealed_secrets`,
    values: [
      connection.merchantId,
      connection.connectionId,
      workerId,
      now,
      leasedUntil,
      options.except,
      options.healthyOnly,
      options.due,
    ],
  });
  return rows.map((row) => ({
    ...connection,
    id: row.id,
    url: row.url,
    inFlightMax: row.in_flight_max,
    sealedSecrets: row.sealed_secrets,
    health: {
      consecutiveFailures: row.consecutive_failures,
      failingSince: row.failing_since,
      lastFailureAt: row.last_failure_at,
      lastSuccessAt: row.last_success_at,
      backoffUntil: row.backoff_until,
      warningsSent: row.warnings_sent,
    },
  }));
}

/** Ends the leases of a worker, so that others need not wait until they expire. */
export async function releaseEndpoints(
  db: Queryable,
  workerId: string,
  endpoints: readonly EndpointKey[],
): Promise<void> {
  await db.query({
    name: "release-endpoints",
    text: `
      update webhook_endpoint_states s
      set worker_id = null
      from unnest($2::uuid[], $3::uuid[]) as o (merchant_id, endpoint_id)
      where s.merchant_id = o.merchant_id and s.endpoint_id = o.endpoint_id and s.worker_id = $1`,
    values: [workerId, endpoints.map(({ merchantId }) => merchantId), endpoints.map(({ id }) => id)],
  });
}

/** How many more deliveries of an endpoint may be claimed. */
export type Room = { readonly endpointId: string; readonly size: number };

/** A delivery may be due manually and by the schedule at the same time. Its two attempts need different ids. */
type ClaimIds = { readonly scheduled: string; readonly manual: string };

const LOST_ATTEMPT = "outcome unknown: the worker ended during the attempt";

type ClaimedRow = {
  endpoint_id: string;
  stream_id: string;
  own_stream_id: string;
  delivery_id: string;
  event_id: string;
  trigger: AttemptTrigger;
  attempt_count: number;
  not_after: Date | null;
};

/**
 * Claims deliveries of endpoints that this worker leases, those first that have been due longest. If the lease of an
 * earlier claim has expired, that claim is recorded as an attempt with an unknown outcome and counts in the schedule. The
 * attempt has the id of the lost claim, so it is recorded once.
 */
export async function claimDeliveries(
  db: Queryable,
  connection: ConnectionKey,
  ids: ClaimIds,
  { now, leasedUntil }: Claimant,
  rooms: readonly Room[],
): Promise<ClaimedDelivery[]> {
  const rows = await db.query<ClaimedRow>({
    name: "claim-deliveries",
    text: `
      with picked as (
        select room.endpoint_id, due.*
        from unnest($6::uuid[], $7::integer[]) as room (endpoint_id, size)
        cross join lateral (
          select d.ctid as row_position, d.delivery_id, d.trigger, d.claim_id as lost_claim_id, d.claimed_at as lost_at
          from due_deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = room.endpoint_id
            and ${isClaimable("$3")}
          order by d.due_at
          limit room.size
          for update skip locked) as due
      ), lost as (
        insert into attempts (merchant_id, id, delivery_id, trigger, started_at, error)
        select $1, p.lost_claim_id, p.delivery_id, p.trigger, p.lost_at, $8
        from picked p
        where p.lost_claim_id is not null
        on conflict do nothing
      ), claimed as (
        update due_deliveries d
        set claim_id = case d.trigger when 'manual' then $9::uuid else $5::uuid end, claimed_at = $3, leased_until = $4,
            attempt_count = d.attempt_count + case when p.lost_claim_id is null then 0 else 1 end
        from picked p
        where d.merchant_id = $1 and d.ctid = p.row_position -- Locked by this statement, so it has not moved.
        returning d.endpoint_id, d.stream_id, d.delivery_id, d.event_id, d.trigger, d.attempt_count, d.not_after
      )
      select c.endpoint_id, c.stream_id, c.delivery_id, c.event_id, c.trigger, c.attempt_count, c.not_after,
             case when c.trigger <> 'manual' then c.stream_id else (
               select d.stream_id
               from deliveries d
               where d.merchant_id = $1 and d.connection_id = $2 and d.id = c.delivery_id
             ) end as own_stream_id
      from claimed c`,
    values: [
      connection.merchantId,
      connection.connectionId,
      now,
      leasedUntil,
      ids.scheduled,
      rooms.map(({ endpointId }) => endpointId),
      rooms.map(({ size }) => size),
      LOST_ATTEMPT,
      ids.manual,
    ],
  });
  const events = await readEvents(db, connection, [...new Set(rows.map((row) => row.event_id))]);
  return rows.map((row) => ({
    ...connection,
    endpointId: row.endpoint_id,
    streamId: row.stream_id,
    ownStreamId: row.own_stream_id,
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    claimId: row.trigger === "manual" ? ids.manual : ids.scheduled,
    trigger: row.trigger,
    attemptCount: row.attempt_count,
    notAfter: row.not_after,
    leasedUntil,
    event: events.get(row.event_id) ?? null,
  }));
}

/** Reads each event once, for any number of endpoints. The bounds exclude the partitions of other days. */
async function readEvents(
  db: Queryable,
  connection: ConnectionKey,
  eventIds: readonly string[],
): Promise<Map<string, SendableEvent>> {
  if (eventIds.length === 0) return new Map();
  const sorted = eventIds.toSorted();
  const rows = await db.query<{ id: string; body: string }>({
    name: "read-events-to-send",
    text: `
      select id, body
      from events
      where merchant_id = $1 and id = any($2::uuid[]) and id between $3 and $4`,
    values: [connection.merchantId, plainArray(sorted), sorted[0], sorted.at(-1)],
  });
  return new Map(
    rows.map(({ id, body }) => [
      id,
      { wireId: toTypeId("evt", id), happenedAt: momentOf(id), body: Buffer.from(body) },
    ]),
  );
}
