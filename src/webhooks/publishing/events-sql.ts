import type { EventRow } from "../../events/event.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { fanOut, lockStreams } from "./fan-out-sql.ts";

/** Positions in the feed of events of orders, by order; without one an event's position is its own transaction. */
export type FeedPositions = ReadonlyMap<string, string>;

/**
 * Writes events of one connection with their deliveries. Must run in the transaction of their cause; after its commit
 * the dispatchers are to be notified.
 */
export async function insertEvents(
  tx: Queryable,
  events: readonly EventRow[],
  now: Date,
  positions: FeedPositions = new Map(),
): Promise<void> {
  if (events.length === 0) return;
  await lockStreams(
    tx,
    events.map(({ connectionId, orderId, id }) => ({ connectionId, streamId: orderId ?? id })),
  );
  await tx.query({
    name: "insert-events",
    text: `
      with told as (
        insert into events (connection_id, id, type, order_id, sequence, body, feed_position, not_after)
        select connection_id, id, type, order_id, sequence, body, coalesce(feed_position, pg_current_xact_id()), $7::timestamptz
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::integer[], $6::text[], $9::xid8[])
          as event (connection_id, id, type, order_id, sequence, body, feed_position)
        returning connection_id, id as event_id, type as event_type, order_id, sequence, not_after
      ), ${fanOut("told", "$8", false)}
      select from headed`,
    values: [
      events.map((event) => event.connectionId),
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.orderId),
      events.map((event) => event.sequence),
      events.map((event) => event.body),
      events[0]?.notAfter ?? null, // Events that are written together are about one order.
      now,
      events.map(({ orderId }) => (orderId === null ? null : positions.get(orderId))),
    ],
  });
}

/** Erases what was told about test orders, together with the orders themselves. */
export async function deleteEventsOfOrders(
  tx: Queryable,
  connectionId: string,
  orderIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: "delete-events-of-orders",
    text: "delete from events where connection_id = $1 and order_id = any($2::uuid[])",
    values: [connectionId, orderIds],
  });
}
