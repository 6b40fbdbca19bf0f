import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * The part of a statement that writes the deliveries of events and the heads of their streams. Events and deliveries are
 * written by one statement, so there is never one without the other. The first events of new orders have streams of their
 * own, and are written by the function `place_orders` (decision 0169).
 *
 * All of the delivery rests on two properties:
 * - The id of a delivery is the id of its event with the number of the endpoint in the last 32 bits. So an event has at
 *   most one delivery for an endpoint (decision 0028).
 * - A transaction that adds a delivery to a stream with a head locks the head and marks it as followed. A transaction that
 *   removes a head that is followed looks for the next delivery after it has locked the head. So one of them sees the
 *   other, and no stream with pending deliveries is left without a head (decision 0033).
 *
 * A stream that is not new must be locked by `lockStreams` in an earlier statement. Only then does this one see the
 * current state of its deliveries.
 *
 * @param events the name of an earlier part with the columns merchant_id, connection_id, event_id, event_type, order_id,
 *   sequence and not_after
 * @param now the parameter that holds the current time
 * @param merchant the parameter that `ofMerchant` describes
 * @returns the parts `added` and `heads`; `heads` has a row for each stream with something to send
 */
export const fanOut = (events: string, now: `$${number}`, merchant: `$${number}`): string => `
      added as (
        insert into deliveries (
          merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id,
          not_after, status)
        select t.merchant_id, t.connection_id, (left(t.event_id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid,
               w.id, t.event_id, t.event_type, t.order_id, t.sequence, coalesce(t.order_id, t.event_id), t.not_after, 'pending'
        from ${events} t
        join webhook_endpoints w on w.merchant_id = t.merchant_id and w.connection_id = t.connection_id
        where w.status <> 'deleted' and t.event_type = any(w.event_types) and ${ofMerchant(merchant, "w.merchant_id")}
          and (w.mode = 'live' or t.not_after is not null) -- Only events of test orders expire (decision 0108).
        returning merchant_id, connection_id, id, endpoint_id, event_id, sequence, stream_id, not_after
      ), heads as (
        insert into due_deliveries (
          merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
          not_after, is_followed)
        select distinct on (o.merchant_id, o.endpoint_id, o.stream_id)
               o.merchant_id, o.connection_id, o.endpoint_id, o.stream_id, coalesce(earlier.id, o.id),
               coalesce(earlier.event_id, o.event_id), 'schedule', 0, ${now}, o.not_after,
               earlier.id is not null
                 or count(*) over (partition by o.merchant_id, o.endpoint_id, o.stream_id) > 1
        from added o
        join webhook_endpoints w on w.merchant_id = o.merchant_id and w.id = o.endpoint_id
        ${earlier(merchant)}
        where w.status = 'active' and ${ofMerchant(merchant, "w.merchant_id")}
        order by o.merchant_id, o.endpoint_id, o.stream_id, o.sequence, o.id
        on conflict (merchant_id, endpoint_id, stream_id) do update set is_followed = true
        returning connection_id
      )`;

// A delivery that is pending since before a pause goes first, even if the recovery has not reached it yet. Only while the
// recovery of a resume is open can a stream of an active endpoint have pending deliveries and no head (decision 0033).
// The stream's history is read only then, and only if its newest delivery is pending: so the history is read once
// after a pause, and not by every event.
const earlier = (merchant: `$${number}`): string => `
        left join lateral (
          select first.id, first.event_id
          from (
            select r.merchant_id, r.endpoint_id
            from webhook_recoveries r
            where r.merchant_id = o.merchant_id and r.endpoint_id = o.endpoint_id and not r.includes_failed
              and r.finished_at is null and ${ofMerchant(merchant, "r.merchant_id")}
            limit 1) as resumed
          cross join lateral (
            select d.merchant_id, d.endpoint_id, d.status
            from deliveries d
            where d.merchant_id = resumed.merchant_id and d.endpoint_id = resumed.endpoint_id
              and d.stream_id = o.stream_id and ${ofMerchant(merchant, "d.merchant_id")}
            order by d.sequence desc, d.id desc
            limit 1) as newest
          cross join lateral (
            select d.id, d.event_id
            from deliveries d
            where d.merchant_id = newest.merchant_id and d.endpoint_id = newest.endpoint_id
              and d.stream_id = o.stream_id and d.status = 'pending'
              and newest.status = 'pending' and ${ofMerchant(merchant, "d.merchant_id")}
              and not exists (
                select from due_deliveries h
                where h.merchant_id = newest.merchant_id and h.endpoint_id = newest.endpoint_id
                  and h.stream_id = o.stream_id and ${ofMerchant(merchant, "h.merchant_id")})
            order by d.sequence, d.id
            limit 1) as first) as earlier on true`;

/** Locks the heads of these streams, after waiting for the transactions that have locked them: see `fanOut`. */
export async function lockStreams(
  tx: Queryable,
  streams: readonly (ConnectionKey & { readonly streamId: string })[],
): Promise<void> {
  await merchantByMerchant(tx, streams, (own, merchantId) => lockStreamsOf(tx, own, merchantId));
}

const lockStreamsOf = (
  tx: Queryable,
  streams: readonly (ConnectionKey & { readonly streamId: string })[],
  merchantId: string | null,
) =>
  tx.query({
    name: "lock-streams",
    text: `
      select due.stream_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as stream (merchant_id, connection_id, id)
      join webhook_endpoints w on w.merchant_id = stream.merchant_id and w.connection_id = stream.connection_id
      join due_deliveries due on due.merchant_id = stream.merchant_id and due.endpoint_id = w.id
        and due.stream_id = stream.id
      where w.status <> 'deleted' and ${ofMerchant("$4", "stream.merchant_id")}
      order by due.merchant_id, due.endpoint_id, due.stream_id
      for update of due`,
    values: [
      streams.map(({ merchantId }) => merchantId),
      streams.map(({ connectionId }) => connectionId),
      streams.map(({ streamId }) => streamId),
      merchantId,
    ],
  });
