import { plainArray } from "../../../platform/database/array-literal.ts";
import type { Queryable } from "../../../platform/database/database.ts";
import { isoTime } from "../../../platform/time.ts";
import type { ClaimedDelivery, DeliveryAttempt } from "../claimed-delivery.ts";

/** How nearly every claim ends: it was sent, accepted, and the last pending one of its stream. */
export type Success = { readonly delivery: ClaimedDelivery; readonly attempt: DeliveryAttempt };

/**
 * Records successes that end their streams, in one statement because no decision lies in between. Returns for each
 * whether this was the case. If not, nothing has changed: another worker took the claim over, or other deliveries of the
 * stream are pending.
 *
 * Deleting the head also locks the stream. A transaction that adds a delivery behind it marks the head as followed. So
 * either the head is not deleted here, or the added delivery becomes a head itself (decision 0033).
 */
export async function endStreams(db: Queryable, successes: readonly Success[]): Promise<boolean[]> {
  const rows = await db.query<{ ordinal: number }>({
    name: "end-streams",
    text: `
      with outcome as materialized (
        select *
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::integer[],
                    $8::integer[], $9::text[])
          with ordinality
          as o (merchant_id, endpoint_id, stream_id, delivery_id, claim_id, started_at, duration_ms, response_status,
                response_body, ordinal)
        order by o.merchant_id, o.endpoint_id, o.stream_id -- All transactions lock streams in this order.
      ), ended as (
        delete from due_deliveries d
        using outcome o
        where d.merchant_id = o.merchant_id and d.endpoint_id = o.endpoint_id and d.stream_id = o.stream_id
          and d.delivery_id = o.delivery_id and d.claim_id = o.claim_id and not d.is_followed
        returning o.*, d.connection_id, d.trigger
      ), recorded as (
        insert into attempts (
          merchant_id, id, delivery_id, trigger, started_at, duration_ms, response_status, response_body)
        select merchant_id, claim_id, delivery_id, trigger, started_at, duration_ms, response_status, response_body
        from ended
      ), finished as (
        update deliveries d
        set status = 'succeeded'
        from ended e
        where d.merchant_id = e.merchant_id and d.connection_id = e.connection_id and d.id = e.delivery_id
      )
      select ordinal::integer from ended`,
    values: [
      plainArray(successes.map(({ delivery }) => delivery.merchantId)),
      plainArray(successes.map(({ delivery }) => delivery.endpointId)),
      plainArray(successes.map(({ delivery }) => delivery.streamId)),
      plainArray(successes.map(({ delivery }) => delivery.deliveryId)),
      plainArray(successes.map(({ delivery }) => delivery.claimId)),
      plainArray(successes.map(({ attempt }) => isoTime(attempt.startedAt))),
      plainArray(successes.map(({ attempt }) => attempt.durationMs)),
      plainArray(successes.map(({ attempt }) => attempt.responseStatus ?? "null")),
      successes.map(({ attempt }) => attempt.responseBody),
    ],
  });
  const ended = new Set(rows.map(({ ordinal }) => ordinal));
  return successes.map((_, index) => ended.has(index + 1));
}
