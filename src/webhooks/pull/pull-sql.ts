import { type ConnectionKeyRow, connectionColumns, toConnectionKey } from "../../platform/connection-key.ts";
import { merchantsOf, searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, LOG_KEPT_MS } from "../../platform/time.ts";
import type { ClaimedDelivery } from "../delivery/claimed-delivery.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { EndpointHealth } from "../endpoints/health.ts";
import type { DeliveryFault } from "../faults/delivery-fault.ts";
import type { AttemptTrigger } from "../log/delivery.ts";

/**
 * Locks the state of a pull endpoint: leases and acknowledgements of an endpoint are made one after the other, in whatever process.
 * Publishing does not wait for it. Returns the health; null if there is no such endpoint.
 */
export async function lockPullState(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
): Promise<EndpointHealth | null> {
  const [health] = await tx.query<EndpointHealth>({
    name: "lock-pull-state",
    text: `
      select s.consecutive_failures as "consecutiveFailures", s.failing_since as "failingSince",
             s.last_failure_at as "lastFailureAt", s.last_error as "lastError", s.last_success_at as "lastSuccessAt",
             s.succeeded_at as "succeededAt", s.backoff_until as "backoffUntil", s.warnings_sent as "warningsSent"
      from webhook_endpoint_states s
      where s.merchant_id = $1 and s.connection_id = $2 and s.endpoint_id = $3
      for no key update`,
    values: [merchantId, connectionId, id],
  });
  return health ?? null;
}

/** A delivery that a client has leased. */
export type PullLease = {
  readonly deliveryId: string;
  /** The attempt, as the log of the delivery counts it. */
  readonly number: number;
  readonly leasedAt: Date;
  readonly leasedUntil: Date;
  /** Null if the delivery was erased since. */
  readonly delivery: ClaimedDelivery | null;
};

type LeaseRow = {
  delivery_id: string;
  number: number;
  leased_at: Date;
  leased_until: Date;
  stream_id: string;
  claim_id: string;
  own_stream_id: string;
  event_id: string;
  trigger: AttemptTrigger | null;
  attempt_count: number;
  not_after: Date | null;
  fault: DeliveryFault | null;
};

/** The leases of an endpoint. The caller has locked its state. */
export async function listPullLeases(tx: Queryable, endpoint: EndpointKey): Promise<PullLease[]> {
  const { merchantId, connectionId, id: endpointId } = endpoint;
  const rows = await tx.query<LeaseRow>({
    name: "list-pull-leases",
    text: `
      select l.delivery_id, l.number, l.leased_at, l.leased_until, l.stream_id, l.claim_id, d.stream_id as own_stream_id,
             d.event_id, q.trigger, q.attempt_count, q.not_after,
             case when q.trigger = 'schedule' then d.fault end as fault
      from webhook_pull_leases l
      left join deliveries d on d.merchant_id = $1 and d.connection_id = $2 and d.id = l.delivery_id
      left join due_deliveries q on q.merchant_id = $1 and q.endpoint_id = l.endpoint_id and q.stream_id = l.stream_id
        and q.delivery_id = l.delivery_id and q.claim_id = l.claim_id
      where l.merchant_id = $1 and l.connection_id = $2 and l.endpoint_id = $3
      order by l.leased_at, l.delivery_id, l.number`,
    values: [merchantId, connectionId, endpointId],
  });
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    number: row.number,
    leasedAt: row.leased_at,
    leasedUntil: row.leased_until,
    delivery:
      row.trigger === null || row.event_id === null
        ? null
        : {
            merchantId,
            connectionId,
            endpointId,
            streamId: row.stream_id,
            ownStreamId: row.own_stream_id,
            deliveryId: row.delivery_id,
            eventId: row.event_id,
            claimId: row.claim_id,
            trigger: row.trigger,
            attemptCount: row.attempt_count,
            notAfter: row.not_after,
            leasedUntil: row.leased_until,
            fault: row.fault,
            event: null, // It was sent with the lease.
          },
  }));
}

/** A lease to be stored. */
export type NewPullLease = Pick<PullLease, "number" | "leasedAt"> & { readonly delivery: ClaimedDelivery };

export async function insertPullLeases(
  tx: Queryable,
  endpoint: EndpointKey,
  leases: readonly NewPullLease[],
): Promise<void> {
  if (leases.length === 0) return;
  await tx.query({
    name: "insert-pull-leases",
    text: `
      insert into webhook_pull_leases (
        merchant_id, connection_id, endpoint_id, delivery_id, number, stream_id, claim_id, leased_at, leased_until)
      select *
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::integer[], $6::uuid[], $7::uuid[], $8::timestamptz[],
                  $9::timestamptz[])`,
    values: [
      leases.map(() => endpoint.merchantId),
      leases.map(() => endpoint.connectionId),
      leases.map(() => endpoint.id),
      leases.map(({ delivery }) => delivery.deliveryId),
      leases.map(({ number }) => number),
      leases.map(({ delivery }) => delivery.streamId),
      leases.map(({ delivery }) => delivery.claimId),
      leases.map(({ leasedAt }) => leasedAt),
      leases.map(({ delivery }) => delivery.leasedUntil),
    ],
  });
}

export async function deletePullLeases(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  leases: readonly Pick<PullLease, "deliveryId" | "number">[],
): Promise<void> {
  if (leases.length === 0) return;
  await tx.query({
    name: "delete-pull-leases",
    text: `
      delete from webhook_pull_leases l
      using unnest($4::uuid[], $5::integer[]) as ended (delivery_id, number)
      where l.merchant_id = $1 and l.connection_id = $2 and l.endpoint_id = $3
        and l.delivery_id = ended.delivery_id and l.number = ended.number`,
    values: [
      merchantId,
      connectionId,
      id,
      leases.map(({ deliveryId }) => deliveryId),
      leases.map(({ number }) => number),
    ],
  });
}

/** Endpoints with leases that have ended. A scan over all shards, by webhook_pull_leases_end_idx. */
export async function listEndpointsWithEndedLeases(db: Queryable, now: Date): Promise<EndpointKey[]> {
  const rows = await searchReachable(db, "list-endpoints-with-ended-leases", (merchants) =>
    db.query<ConnectionKeyRow & { endpoint_id: string }>({
      name: "list-endpoints-with-ended-leases",
      text: `
        select distinct merchant_id, connection_id, endpoint_id
        from webhook_pull_leases
        where leased_until <= $1 and ($2::uuid[] is null or merchant_id = any($2))`,
      values: [now, merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.endpoint_id }));
}

/** An active pull endpoint, and when the oldest of its due deliveries became due. */
export type SilentEndpoint = EndpointKey & { readonly dueSince: Date };

/**
 * Pull endpoints with something that has been due since before a time, and from which nothing was leased since: no attempt has ended
 * since, but for what an earlier run has reported, and none is in progress. A scan over all shards.
 */
export async function listSilentEndpoints(
  db: Queryable,
  before: Date,
  reported: string,
): Promise<SilentEndpoint[]> {
  const rows = await searchReachable(db, "list-silent-endpoints", (merchants) =>
    db.query<ConnectionKeyRow & { endpoint_id: string; due_since: Date }>({
      name: "list-silent-endpoints",
      text: `
        select w.merchant_id, w.connection_id, w.id as endpoint_id, oldest.due_at as due_since
        from webhook_endpoints w
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        cross join lateral (
          select q.due_at
          from due_deliveries q
          where q.merchant_id = w.merchant_id and q.connection_id = w.connection_id and q.endpoint_id = w.id
          order by q.due_at
          limit 1) as oldest
        where w.kind = 'pull' and w.status = 'active' and oldest.due_at < $1 and s.last_success_at < $1
          and (s.last_failure_at is null or s.last_failure_at < $1 or s.last_error = $2)
          and not exists (
            select from webhook_pull_leases l where l.merchant_id = w.merchant_id and l.endpoint_id = w.id)
          and ($3::uuid[] is null or w.merchant_id = any($3))
        order by w.id`,
      values: [before, reported, merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.endpoint_id, dueSince: row.due_since }));
}

/** An attempt by its number, as the log counts it. */
export type AttemptNumber = { readonly deliveryId: string; readonly number: number };

/** What the log has of an attempt. `error`: null if it succeeded, and if there is no such attempt. */
export type KnownAttempt = AttemptNumber & { readonly isMade: boolean; readonly error: string | null };

/** Attempts of the endpoint in the log, numbered as `listAttempts` orders them. Those of unknown deliveries are left out. */
export async function readNumberedAttempts(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  attempts: readonly AttemptNumber[],
  now: Date,
): Promise<KnownAttempt[]> {
  if (attempts.length === 0) return [];
  return tx.query<KnownAttempt>({
    name: "read-numbered-attempts",
    text: `
      select requested.id as "deliveryId", requested.number, made.number is not null as "isMade", made.error
      from unnest($4::uuid[], $5::integer[]) as requested (id, number)
      join deliveries d on d.merchant_id = $1 and d.connection_id = $2 and d.id = requested.id and d.endpoint_id = $3
      left join lateral (
        select m.error, row_number() over (order by m.started_at, m.place, m.id) as number
        from (
          select a.id, a.started_at, a.error, case when a.trigger = 'manual' then 2 else 0 end as place
          from attempts a
          where a.merchant_id = $1 and a.delivery_id = requested.id and a.id >= $6
          union all
          select null, s.started_at, null, 1
          from deliveries s
          where s.merchant_id = $1 and s.connection_id = $2 and s.id = requested.id and s.started_at is not null) as m
      ) as made on made.number = requested.number`,
    values: [
      merchantId,
      connectionId,
      id,
      attempts.map(({ deliveryId }) => deliveryId),
      attempts.map(({ number }) => number),
      uuidAt(before(now, LOG_KEPT_MS)),
    ],
  });
}

/**
 * When something may be leased from each of these endpoints: in the past if it can be now. Endpoints without anything that is due or
 * leased are left out. For one that is paused, deleted or no pull endpoint it is now: a lease says so.
 */
export async function readWhenDue(
  db: Queryable,
  endpoints: readonly EndpointKey[],
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.query<{ id: string; due_at: Date | null }>({
    name: "read-when-due",
    text: `
      select requested.id,
             case
               when w.id is null or w.status <> 'active' or w.kind <> 'pull' then $4
               when held.count >= case when s.consecutive_failures >= 10 then 1 else w.in_flight_max end then held.ends_at
               else greatest(next.due_at, s.backoff_until)
             end as due_at
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, id)
      left join webhook_endpoints w on w.merchant_id = requested.merchant_id and w.connection_id = requested.connection_id
        and w.id = requested.id and ($5::uuid[] is null or w.merchant_id = any($5))
      left join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        and ($5::uuid[] is null or s.merchant_id = any($5))
      left join lateral (
        select count(*) as count, min(l.leased_until) as ends_at
        from webhook_pull_leases l
        where l.merchant_id = requested.merchant_id and l.endpoint_id = requested.id
          and ($5::uuid[] is null or l.merchant_id = any($5))) as held on true
      left join lateral (
        select d.due_at
        from due_deliveries d
        where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
          and d.endpoint_id = requested.id and d.claim_id is null and ($5::uuid[] is null or d.merchant_id = any($5))
        order by d.due_at
        limit 1) as next on true`,
    values: [
      ...connectionColumns(endpoints),
      endpoints.map(({ id }) => id),
      now,
      await merchantsOf(db, endpoints),
    ],
  });
  return new Map(rows.flatMap(({ id, due_at: dueAt }) => (dueAt === null ? [] : [[id, dueAt]])));
}
