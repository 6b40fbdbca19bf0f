import { merchantByMerchant, ofMerchant } from "../../../distribution/merchant-by-merchant.ts";
import { type ConnectionKey, connectionColumns } from "../../../platform/connection-key.ts";
import type { Queryable } from "../../../platform/database/database.ts";

/** Rows of an endpoint that are looked at, those first that have been due longest, as in a claim. */
const ROWS_MAX = 4_096;

/**
 * Releases what claims with these ids have stored, so that it is due again and no attempt counts. Rows that belong to
 * another claim by now are not changed. By due_deliveries_due_idx.
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
              and d.endpoint_id = requested.endpoint_id and ${ofMerchant("$5", "d.merchant_id")}
            order by d.due_at
            limit ${ROWS_MAX}) as due
          where due.claim_id = any($4::uuid[])) as lost
        where d.merchant_id = lost.merchant_id and d.endpoint_id = lost.endpoint_id and d.stream_id = lost.stream_id
          and d.claim_id = any($4) and ${ofMerchant("$5", "d.merchant_id")}`,
      values: [...connectionColumns(own), own.map(({ endpointId }) => endpointId), claimIds, merchantId],
    }),
  );
}

/** The part of a claim that records lost claims among the picked deliveries as attempts. */
export const LOST = `lost as (
        insert into attempts (merchant_id, id, delivery_id, trigger, started_at, error)
        select p.merchant_id, p.lost_claim_id, p.delivery_id, p.trigger, p.lost_at, $10
        from picked p
        where p.lost_claim_id is not null
        on conflict do nothing
      ),`;

export const LOST_ATTEMPT = "outcome unknown: the worker ended during the attempt";

/** Records the attempts of claims whose leases have expired, each once, for the deliveries that are due first. */
export async function recordLostClaims(
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
          and ${ofMerchant("$7", "d.merchant_id")}
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
