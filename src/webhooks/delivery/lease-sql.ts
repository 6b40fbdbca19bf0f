import type { Config } from "../../platform/config.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import { merchantByMerchant, merchantsOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { LeasedEndpoint } from "./claimed-delivery.ts";

/** The claiming worker, the time of the claim, and the ends of its leases of deliveries and of their endpoints. */
export type Claimant = {
  readonly workerId: string;
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly endpointLeasedUntil: Date;
};

type LeasedRow = ConnectionKeyRow & {
  id: string;
  url: string;
  in_flight_max: number;
  sealed_secrets: string[];
  consecutive_failures: number;
  failing_since: Date | null;
  last_failure_at: Date | null;
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
        select s.merchant_id, s.endpoint_id as id, w.url, w.in_flight_max
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
        join webhook_endpoints w on w.merchant_id = listed.merchant_id and w.connection_id = listed.connection_id
        join webhook_endpoint_states s on s.merchant_id = w.merchant_id and s.endpoint_id = w.id
        where w.status = 'active'
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
      returning s.merchant_id, s.connection_id, w.id, w.url, w.in_flight_max, s.consecutive_failures, s.failing_since,
                s.last_failure_at, s.last_success_at, s.succeeded_at, s.backoff_until, s.warnings_sent, s.proven_host,
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
  sealedSecrets: row.sealed_secrets,
  provenHost: row.proven_host,
  health: {
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    lastFailureAt: row.last_failure_at,
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
 * deliveries from the endpoint for so long (decision 0196).
 */
export const ENDPOINT_LEASE_MS = 15 * SECOND_MS;

/** A lease that ends sooner is renewed by the next poll. What is left covers the time in which a worker stops. */
export const RENEWED_BEFORE_MS = 12 * SECOND_MS;
