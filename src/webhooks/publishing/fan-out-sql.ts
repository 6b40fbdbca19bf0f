import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * Part of a statement that stores events: the deliveries of each event, and the heads of new streams. An event cannot
 * be without its deliveries, because they are one statement.
 *
 * Everything else depends on two properties:
 * - A delivery's id is its event's with the endpoint's number in the last 32 bits, so an endpoint gets the same event
 *   once (decision 0028).
 * - A transaction that adds a delivery to a stream with a head locks that head's row and marks it as followed. A
 *   transaction that removes a followed head looks for the next delivery after it has locked the head. So each sees
 *   what the other did, and no stream is left without a head.
 *
 * Existing streams must be locked by `lockStreams` in a statement before this one: only then does this one see the
 * current state of their deliveries.
 *
 * @param events name of an earlier part with the columns merchant_id, connection_id, event_id, event_type, order_id,
 *   sequence and not_after
 * @param now the parameter that contains the current time
 * @param streamsAreNew true for events that begin their streams, such as `order.created`: no delivery can be pending
 *   there
 * @returns the parts `owed` and `headed`; `headed` has a row for each stream with something to send
 */
export const fanOut = (events: string, now: `$${number}`, streamsAreNew: boolean): string => `
      owed as (
        insert into deliveries (
          merchant_id, connection_id, id, endpoint_id, event_id, event_type, order_id, sequence, stream_id, not_after, status)
        select t.merchant_id, t.connection_id, (left(t.event_id::text, 28) || lpad(to_hex(w.number), 8, '0'))::uuid, w.id,
               t.event_id, t.event_type, t.order_id, t.sequence, coalesce(t.order_id, t.event_id), t.not_after, 'pending'
        from ${events} t
        join webhook_endpoints w on w.merchant_id = t.merchant_id and w.connection_id = t.connection_id
        where w.status <> 'deleted' and t.event_type = any(w.event_types)
        returning merchant_id, connection_id, id, endpoint_id, event_id, sequence, stream_id, not_after
      ), headed as (
        insert into due_deliveries (
          merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at, not_after, is_followed)
        select distinct on (o.merchant_id, o.endpoint_id, o.stream_id)
               o.merchant_id, o.connection_id, o.endpoint_id, o.stream_id, ${headOf(streamsAreNew)}, 'schedule', 0, ${now}, o.not_after,
               ${isFollowed(streamsAreNew)}
        from owed o
        join webhook_endpoints w on w.merchant_id = o.merchant_id and w.id = o.endpoint_id
        ${streamsAreNew ? "" : EARLIER}
        where w.status = 'active'
        order by o.merchant_id, o.endpoint_id, o.stream_id, o.sequence, o.id
        on conflict (merchant_id, endpoint_id, stream_id) do update set is_followed = true
        returning connection_id
      )`;

const headOf = (streamsAreNew: boolean): string =>
  streamsAreNew ? "o.id, o.event_id" : "coalesce(earlier.id, o.id), coalesce(earlier.event_id, o.event_id)";

const isFollowed = (streamsAreNew: boolean): string => {
  const several = "count(*) over (partition by o.merchant_id, o.endpoint_id, o.stream_id) > 1";
  return streamsAreNew ? several : `earlier.id is not null or ${several}`;
};

// A delivery that has waited since before a pause goes first, even if it is not in its stream yet.
const EARLIER = `
        left join lateral (
          select d.id, d.event_id
          from deliveries d
          where d.merchant_id = o.merchant_id and d.endpoint_id = o.endpoint_id and d.stream_id = o.stream_id
            and d.status = 'pending'
          order by d.sequence, d.id
          limit 1) as earlier on true`;

/** Locks the heads of these streams, waiting if necessary: see `fanOut`. */
export async function lockStreams(
  tx: Queryable,
  streams: readonly (ConnectionKey & { readonly streamId: string })[],
): Promise<void> {
  await tx.query({
    name: "lock-streams",
    text: `
      select due.stream_id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as stream (merchant_id, connection_id, id)
      join webhook_endpoints w on w.merchant_id = stream.merchant_id and w.connection_id = stream.connection_id
      join due_deliveries due on due.merchant_id = stream.merchant_id and due.endpoint_id = w.id and due.stream_id = stream.id
      where w.status <> 'deleted'
      order by due.merchant_id, due.endpoint_id, due.stream_id
      for update of due`,
    values: [
      streams.map(({ merchantId }) => merchantId),
      streams.map(({ connectionId }) => connectionId),
      streams.map(({ streamId }) => streamId),
    ],
  });
}
