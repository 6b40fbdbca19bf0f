import type { Config } from "../../platform/config.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import { merchantByMerchant, merchantsOf, searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, toTypeId } from "../../platform/ids.ts";
import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { DeliveryFault } from "../faults/delivery-fault.ts";
import type { AttemptTrigger } from "../log/delivery.ts";
import type { ClaimedDelivery, LeasedEndpoint, SendableEvent } from "./claimed-delivery.ts";

/** Connections with deliveries that may be sent now. Finds what no signal reported. A scan over all shards. */
export async function listConnectionsWithDueDeliveries(
  db: Queryable,
  workerId: string,
  now: Date,
): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-due-deliveries", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-due-deliveries",
      text: `
        select distinct s.merchant_id, s.connection_id
        from webhook_endpoint_states s
        join webhook_endpoints w on w.merchant_id = s.merchant_id and w.id = s.endpoint_id
        where w.status = 'active' and w.kind = 'push'
          and (s.worker_id is null or s.worker_id = $1 or s.leased_until <= $2)
          and (s.backoff_until is null or s.backoff_until <= $2)
          and exists (
            select from due_deliveries d
            where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
              and ($3::uuid[] is null or d.merchant_id = any($3)) and d.due_at <= $2
              and (d.leased_until is null or d.leased_until <= $2))
          and ($3::uuid[] is null or s.merchant_id = any($3)) and ($3::uuid[] is null or w.merchant_id = any($3))`,
      values: [workerId, now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** How many deliveries to claim for an endpoint, at most. */
export type ClaimSize = { readonly endpointId: string; readonly size: number };

/** A delivery may be due manually and by the schedule at the same time. Its two attempts need different ids. */
type ClaimIds = { readonly scheduled: string; readonly manual: string };

type ClaimedRow = {
  endpoint_id: string;
  stream_id: string;
  /** Null if it is `stream_id`. */
  own_stream_id: string | null;
  delivery_id: string;
  event_id: string;
  trigger: AttemptTrigger;
  attempt_count: number;
  not_after: Date | null;
  fault: DeliveryFault | null;
  /** Of its event, in one of the rows that have it. Null if the event is not kept any more. */
  body: string | null;
};

/**
 * Claims deliveries of endpoints that this worker leases, of each those first that have been due longest. If the lease of
 * an earlier claim has expired, that claim is recorded as an attempt with an unknown outcome and counts in the schedule.
 * The attempt has the id of the lost claim, so it is recorded once. Each body is read once, for any number of endpoints.
 */
export async function claimDeliveries(
  db: Queryable,
  ids: ClaimIds,
  { now, leasedUntil }: Pick<Claimant, "now" | "leasedUntil">,
  sizes: readonly (ConnectionKey & ClaimSize)[],
): Promise<ClaimedDelivery[]> {
  const rows = await merchantByMerchant(db, sizes, (own, merchantId) =>
    claimRows(db, ids, { now, leasedUntil }, own, merchantId),
  );
  const events = new Map(
    rows.flatMap(({ event_id: id, body }) => (body === null ? [] : [[id, toSend(id, body)]])),
  );
  // Deliveries share the ids of what was requested for their endpoint, so that each is in memory once.
  const byEndpoint = new Map(sizes.map((requested) => [requested.endpointId, requested]));
  return rows.flatMap((row) => {
    const requested = byEndpoint.get(row.endpoint_id);
    if (requested === undefined) return [];
    return {
      merchantId: requested.merchantId,
      connectionId: requested.connectionId,
      endpointId: requested.endpointId,
      streamId: row.stream_id,
      ownStreamId: row.own_stream_id ?? row.stream_id,
      deliveryId: row.delivery_id,
      eventId: row.event_id,
      claimId: row.trigger === "manual" ? ids.manual : ids.scheduled,
      trigger: row.trigger,
      attemptCount: row.attempt_count,
      notAfter: row.not_after,
      leasedUntil,
      fault: row.fault,
      event: events.get(row.event_id) ?? null,
    };
  });
}

const toSend = (id: string, body: string): SendableEvent => ({
  wireId: toTypeId("evt", id),
  happenedAt: momentOf(id),
  body: Buffer.from(body),
});

/**
 * On Citus the attempts of lost claims are recorded first, because a statement for one node cannot insert them. It has the
 * same form, but for that. If another worker takes the deliveries in between, it records the same attempts.
 */
async function claimRows(
  db: Queryable,
  ids: ClaimIds,
  { now, leasedUntil }: Pick<Claimant, "now" | "leasedUntil">,
  own: readonly (ConnectionKey & ClaimSize)[],
  merchantId: string | null,
): Promise<ClaimedRow[]> {
  if (merchantId !== null) await recordLostClaims(db, now, own, merchantId);
  const recordsLost = merchantId === null;
  return db.query<ClaimedRow>({
    name: recordsLost ? "claim-deliveries" : "claim-deliveries-on-node",
    text: `
      with picked as (
        select requested.merchant_id, due.*
        from unnest($1::uuid[], $2::uuid[], $6::uuid[], $7::integer[]) as requested (merchant_id, connection_id, endpoint_id, size)
        cross join lateral (
          select d.ctid as row_position, d.delivery_id, d.trigger, d.claim_id as lost_claim_id, d.claimed_at as lost_at
          from due_deliveries d
          where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
            and d.endpoint_id = requested.endpoint_id and d.due_at <= $3 and (d.leased_until is null or d.leased_until <= $3)
            and ($9::uuid is null or d.merchant_id = $9)
          order by d.due_at
          limit requested.size
          for update skip locked) as due
        -- The endpoint may have been paused or deleted since it was leased (docs/design/deliveries.md, "Backoff and pause").
        where (
          select w.status
          from webhook_endpoints w
          where w.merchant_id = requested.merchant_id and w.id = requested.endpoint_id
            and ($9::uuid is null or w.merchant_id = $9)
        ) = 'active'
      ), ${recordsLost ? LOST : ""} claimed as (
        update due_deliveries d
        set claim_id = case d.trigger when 'manual' then $8::uuid else $5::uuid end, claimed_at = $3, leased_until = $4,
            attempt_count = d.attempt_count + case when d.claim_id is null then 0 else 1 end
        -- Locked by this statement, so not moved. For a join instead of a list the planner may read all of the table.
        where d.merchant_id = any($1::uuid[]) and d.ctid = any(array(select p.row_position from picked p))
        returning d.merchant_id, d.connection_id, d.endpoint_id, d.stream_id, d.delivery_id, d.event_id, d.trigger,
                  d.attempt_count, d.not_after
      )
      select c.endpoint_id, c.stream_id, c.delivery_id, c.event_id, c.trigger, c.attempt_count, c.not_after,
             case when c.trigger = 'manual' then (
               select d.stream_id
               from deliveries d
               where d.merchant_id = c.merchant_id and d.connection_id = c.connection_id and d.id = c.delivery_id
                 and ($9::uuid is null or d.merchant_id = $9)
             ) end as own_stream_id,
             -- Only deliveries of test orders can have one. What is sent by request, or after an outage, has none any more.
             case when c.not_after is not null and c.trigger = 'schedule' then (
               select d.fault
               from deliveries d
               where d.merchant_id = c.merchant_id and d.connection_id = c.connection_id and d.id = c.delivery_id
                 and ($9::uuid is null or d.merchant_id = $9)
             ) end as fault,
             -- Not a join, so that the plan does not depend on how full the partition was when it was made.
             case when row_number() over (partition by c.event_id) = 1 then (
               select e.body
               from events e
               where e.merchant_id = c.merchant_id and e.id = c.event_id and ($9::uuid is null or e.merchant_id = $9)
             ) end as body
      from claimed c`,
    values: [
      ...connectionColumns(own),
      now,
      leasedUntil,
      ids.scheduled,
      own.map(({ endpointId }) => endpointId),
      own.map(({ size }) => size),
      ids.manual,
      merchantId,
      ...(recordsLost ? [LOST_ATTEMPT] : []),
    ],
  });
}

/**
 * Releases what claims with these ids have stored, so that it is due again and no attempt counts. Rows that belong to
 * another claim by now are not changed. It looks at 4,096 rows of an endpoint, those first that have been due longest, as a
 * claim does. By due_deliveries_due_idx.
 */
export async function releaseLostClaims(
  db: Queryable,
  claimIds: readonly string[],
  endpoints: readonly (ConnectionKey & { readonly endpointId: string })[],
): Promise<void> {
  await merchantByMerchant(db, endpoints, (own, merchantId) =>
    db.query({
      name: "release-lost-claims",
      text: `
        update due_deliveries d
        set claim_id = null, claimed_at = null, leased_until = null
        from (
          select due.merchant_id, due.endpoint_id, due.stream_id
          from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, endpoint_id)
          cross join lateral (
            select d.merchant_id, d.endpoint_id, d.stream_id, d.claim_id
            from due_deliveries d
            where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
              and d.endpoint_id = requested.endpoint_id and ($5::uuid is null or d.merchant_id = $5)
            order by d.due_at
            limit 4096) as due
          where due.claim_id = any($4::uuid[])) as lost
        where d.merchant_id = lost.merchant_id and d.endpoint_id = lost.endpoint_id and d.stream_id = lost.stream_id
          and d.claim_id = any($4) and ($5::uuid is null or d.merchant_id = $5)`,
      values: [...connectionColumns(own), own.map(({ endpointId }) => endpointId), claimIds, merchantId],
    }),
  );
}

/** The part of a claim that records lost claims among the picked deliveries as attempts. */
const LOST = `lost as (
        insert into attempts (merchant_id, id, delivery_id, trigger, started_at, error)
        select p.merchant_id, p.lost_claim_id, p.delivery_id, p.trigger, p.lost_at, $10
        from picked p
        where p.lost_claim_id is not null
        on conflict do nothing
      ),`;

const LOST_ATTEMPT = "outcome unknown: the worker ended during the attempt";

/** Records the attempts of claims whose leases have expired, each once, for the deliveries that are due first. */
async function recordLostClaims(
  db: Queryable,
  now: Date,
  sizes: readonly (ConnectionKey & { readonly endpointId: string; readonly size: number })[],
  merchantId: string,
): Promise<void> {
  await db.query({
    name: "record-lost-claims",
    text: `
      insert into attempts (merchant_id, id, delivery_id, trigger, started_at, error)
      select lost.merchant_id, lost.claim_id, lost.delivery_id, lost.trigger, lost.claimed_at, $6
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[]) as requested (merchant_id, connection_id, endpoint_id, size)
      cross join lateral (
        select d.merchant_id, d.claim_id, d.delivery_id, d.trigger, d.claimed_at
        from due_deliveries d
        where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
          and d.endpoint_id = requested.endpoint_id and d.due_at <= $5 and (d.leased_until is null or d.leased_until <= $5)
          and ($7::uuid is null or d.merchant_id = $7)
        order by d.due_at
        limit requested.size) as lost
      where lost.claim_id is not null
      on conflict do nothing`,
    values: [
      ...connectionColumns(sizes),
      sizes.map(({ endpointId }) => endpointId),
      sizes.map(({ size }) => size),
      now,
      LOST_ATTEMPT,
      merchantId,
    ],
  });
}

/** The claiming worker, the time of the claim, and the ends of its leases of deliveries and of their endpoints. */
export type Claimant = {
  readonly workerId: string;
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly endpointLeasedUntil: Date;
};

type LeasedRow = ConnectionKeyRow & {
  id: string;
  /** Only push endpoints are leased. */
  url: string;
  in_flight_max: number;
  sealed_headers: string | null;
  sealed_secrets: string[];
  consecutive_failures: number;
  failing_since: Date | null;
  last_failure_at: Date | null;
  last_error: string | null;
  last_success_at: Date;
  succeeded_at: Date | null;
  backoff_until: Date | null;
  warnings_sent: number;
  proven_host: string | null;
};

/**
 * In the order in which a worker stores the health of endpoints: otherwise both wait for each other, until the server ends
 * one of them after a second. Citus cannot lock rows of several shards.
 */
const LOCKED_IN_ORDER = "order by s.endpoint_id for no key update of s";

/**
 * Leases the endpoints of connections that have something due and belong to no other worker. An endpoint belongs to one
 * worker at a time, so that its limit of requests in flight holds for any number of workers.
 * @param connections in one order everywhere, so that workers do not wait for each other in a circle
 * @param options.due endpoints that are known to have something due, for which this is not checked
 * @param options.except endpoints that are not leased
 */
export async function leaseEndpoints(
  db: Queryable,
  connections: readonly ConnectionKey[],
  { workerId, now, endpointLeasedUntil }: Omit<Claimant, "leasedUntil">,
  options: { due: readonly string[]; except: readonly string[]; healthyOnly: boolean },
): Promise<LeasedEndpoint[]> {
  const rows = await db.query<LeasedRow>({
    name: "lease-endpoints",
    text: `
      update webhook_endpoint_states s
      set worker_id = $3, leased_until = $5
      from (
        select s.merchant_id, s.endpoint_id as id, w.url, w.in_flight_max, w.sealed_headers
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
        join webhook_endpoints w on w.merchant_id = listed.merchant_id and w.connection_id = listed.connection_id
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        where w.status = 'active' and w.kind = 'push'
          and (s.worker_id is null or s.worker_id = $3 or s.leased_until <= $4)
          and (s.backoff_until is null or s.backoff_until <= $4)
          and (s.consecutive_failures = 0 or not $7)
          and s.endpoint_id <> all($6::uuid[])
          and (s.endpoint_id = any($8::uuid[]) or (
            select true
            from due_deliveries d
            where d.merchant_id = s.merchant_id and d.connection_id = s.connection_id and d.endpoint_id = s.endpoint_id
              and ($9::uuid[] is null or d.merchant_id = any($9)) and d.due_at <= $4
              and (d.leased_until is null or d.leased_until <= $4)
            order by d.due_at -- Instead of exists, so that the planner uses the index, and does not read all of the table.
            limit 1))
          and ($9::uuid[] is null or s.merchant_id = any($9)) and ($9::uuid[] is null or w.merchant_id = any($9))
        ${(await db.isDistributed()) ? "" : LOCKED_IN_ORDER}) as w
      where s.merchant_id = w.merchant_id and s.endpoint_id = w.id and ($9::uuid[] is null or s.merchant_id = any($9))
        -- Again, for the row itself: where it was not locked, another worker may have leased it since.
        and (s.worker_id is null or s.worker_id = $3 or s.leased_until <= $4)
      returning s.merchant_id, s.connection_id, w.id, w.url, w.in_flight_max, w.sealed_headers, s.consecutive_failures,
                s.failing_since, s.last_failure_at, s.last_error, s.last_success_at, s.succeeded_at, s.backoff_until, s.warnings_sent,
                s.proven_host,
                array(
                  select k.sealed
                  from webhook_secrets k
                  where k.merchant_id = s.merchant_id and k.endpoint_id = s.endpoint_id
                    and ($9::uuid[] is null or k.merchant_id = any($9)) and (k.expires_at is null or k.expires_at > $4)
                  order by k.created_at desc, k.id desc) as sealed_secrets`,
    values: [
      ...connectionColumns(connections),
      workerId,
      now,
      endpointLeasedUntil,
      options.except,
      options.healthyOnly,
      options.due,
      await merchantsOf(db, connections),
    ],
  });
  return rows.map((row) => toLeasedEndpoint(row, { leasedAt: now, leasedUntil: endpointLeasedUntil }));
}

const toLeasedEndpoint = (
  row: LeasedRow,
  lease: Pick<LeasedEndpoint, "leasedAt" | "leasedUntil">,
): LeasedEndpoint => ({
  ...toConnectionKey(row),
  id: row.id,
  ...lease,
  url: row.url,
  inFlightMax: row.in_flight_max,
  sealedHeaders: row.sealed_headers,
  sealedSecrets: row.sealed_secrets,
  provenHost: row.proven_host,
  health: {
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    lastFailureAt: row.last_failure_at,
    lastError: row.last_error,
    lastSuccessAt: row.last_success_at,
    succeededAt: row.succeeded_at,
    backoffUntil: row.backoff_until,
    warningsSent: row.warnings_sent,
  },
});

/**
 * Renews the leases of a worker, and returns the ids of their endpoints. An endpoint that another one has leased since stays with
 * it. One whose row is locked, such as by the outcome of a delivery, is left for the next time: nothing waits for it.
 */
export async function renewLeases(
  db: Queryable,
  { workerId, endpointLeasedUntil }: Pick<Claimant, "workerId" | "endpointLeasedUntil">,
  endpoints: readonly EndpointKey[],
): Promise<string[]> {
  const rows = await merchantByMerchant(db, endpoints, (own, merchantId) =>
    db.query<{ endpoint_id: string }>({
      name: "renew-leases",
      text: `
        update webhook_endpoint_states s
        set leased_until = $5
        from (
          select s.merchant_id, s.endpoint_id
          -- The subqueries hide how long the lists are, as in release-endpoints.
          from unnest((select $2::uuid[]), (select $3::uuid[])) as o (merchant_id, endpoint_id)
          join webhook_endpoint_states s on s.merchant_id = o.merchant_id and s.endpoint_id = o.endpoint_id
          where s.worker_id = $1 and ($4::uuid is null or s.merchant_id = $4)
          for no key update of s skip locked) as held
        where s.merchant_id = held.merchant_id and s.endpoint_id = held.endpoint_id
          and ($4::uuid is null or s.merchant_id = $4)
        returning s.endpoint_id`,
      values: [
        workerId,
        own.map((endpoint) => endpoint.merchantId),
        own.map(({ id }) => id),
        merchantId,
        endpointLeasedUntil,
      ],
    }),
  );
  return rows.map((row) => row.endpoint_id);
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
      -- The subqueries hide how long the lists are: for long ones the planner would read all of a table with some
      -- thousand rows.
      from unnest((select $2::uuid[]), (select $3::uuid[])) as o (merchant_id, endpoint_id)
      where s.merchant_id = o.merchant_id and s.endpoint_id = o.endpoint_id and s.worker_id = $1
        and ($4::uuid[] is null or s.merchant_id = any($4))`,
    values: [
      workerId,
      endpoints.map(({ merchantId }) => merchantId),
      endpoints.map(({ id }) => id),
      await merchantsOf(db, endpoints),
    ],
  });
}

const LEASE_MIN_MS = MINUTE_MS;

/** How long a worker may work with what it has claimed: deliveries, and the secrets that sign them. */
export const leaseMsOf = ({ webhookTimeoutMs }: Pick<Config, "webhookTimeoutMs">): number =>
  Math.max(LEASE_MIN_MS, 3 * webhookTimeoutMs);

/**
 * How long an endpoint belongs to a worker that neither claims for it nor renews its lease. A worker that was killed keeps new
 * deliveries from the endpoint for so long (docs/design/deliveries.md, "Leases").
 */
export const ENDPOINT_LEASE_MS = 15 * SECOND_MS;

/** A lease that ends sooner is renewed by the next poll. What is left covers the time in which a worker stops. */
export const RENEWED_BEFORE_MS = 12 * SECOND_MS;
