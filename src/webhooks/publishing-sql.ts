import type { KeyMode } from "../merchants/api-key.ts";
import { type ConnectionKey, distinctConnections } from "../platform/connection-key.ts";
import { merchantByMerchant, merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import { uuidAt } from "../platform/ids.ts";
import type { EventRow } from "./events/event.ts";
import { applyFaults } from "./faults/apply-faults.ts";
import { alsoAtFacilities } from "./owner.ts";

/**
 * Writes events with their deliveries and the heads of their streams, in the transaction of the change that they describe. The
 * function `publish_events` (functions/publish_events.sql) does it, so there is never one without the other
 * (docs/design/distribution.md, "Functions run on one node"). `place_orders` calls it for the first events of new orders.
 *
 * All of the delivery rests on two properties:
 * - The id of a delivery is the id of its event with the number of the endpoint in the last 32 bits. So an event has at most
 *   one delivery for an endpoint (docs/design/deliveries.md, "Delivery ids").
 * - A transaction that adds a delivery to a stream with a head locks the head and marks it as followed. A transaction that
 *   removes a head that is followed looks for the next delivery after it has locked the head. So one of them sees the other,
 *   and no stream with pending deliveries is left without a head (docs/design/deliveries.md, "Streams").
 *
 * @returns the connections that have something to send: after the commit the caller sends them the signal `deliveries_due`
 */
export async function insertEvents(
  tx: Queryable,
  events: readonly EventRow[],
  now: Date,
): Promise<ConnectionKey[]> {
  if (events.length === 0) return [];
  const rows = await merchantByMerchant(tx, events, (own, merchantId) =>
    tx.query<{ connection_id: string }>({
      name: "publish-events",
      text: `
        select connection_id
        from publish_events($1, $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::integer[], $8::text[],
                            $9::timestamptz[], $10)`,
      values: [
        merchantId,
        own.map((event) => event.merchantId),
        own.map((event) => event.connectionId),
        own.map((event) => event.id),
        own.map((event) => event.type),
        own.map((event) => event.orderId),
        own.map((event) => event.sequence),
        own.map((event) => event.body),
        own.map((event) => event.notAfter),
        now,
      ],
    }),
  );
  const ofTestOrders = events.filter(({ notAfter, orderId }) => notAfter !== null && orderId !== null);
  if (ofTestOrders.length > 0) await applyFaults(tx, ofTestOrders, now);
  const sending = new Set(rows.map((row) => row.connection_id));
  return distinctConnections(events.filter(({ connectionId }) => sending.has(connectionId)));
}

/**
 * The sequence of the newest delivery of each of these streams of an owner. 1 for a stream without any: a sequence above it says that
 * the stream may have a head.
 */
export async function readLastSequences(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  streamIds: readonly string[],
): Promise<(streamId: string) => number> {
  const rows = await tx.query<{ stream_id: string; sequence: number }>({
    name: "read-last-sequences",
    text: `
      select d.stream_id, max(d.sequence) as sequence
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = any($3::uuid[]) and d.sequence is not null
      group by d.stream_id`,
    values: [merchantId, connectionId, streamIds],
  });
  const last = new Map(rows.map((row) => [row.stream_id, row.sequence]));
  return (streamId) => last.get(streamId) ?? 1;
}

/** How many deliveries an event of this type has that is not about a test order. Paused endpoints have them too. */
export async function countDeliveriesOf(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  type: string,
): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    name: "count-deliveries-of-event",
    text: `
      select count(*)::integer as count
      from webhook_endpoints w
      where w.merchant_id = $1 and w.connection_id = $2 and w.status <> 'deleted' and w.mode = 'live'
        and $3 = any(w.event_types)`,
    values: [merchantId, connectionId, type],
  });
  return row?.count ?? 0;
}

/** Deletes at most `limit` events of test orders that are erased. Returns how many. */
export async function eraseEvents(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
  limit: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "erase-events",
    text: `
      with picked as materialized (
        select e.id
        from events e
        where e.merchant_id = $1 and e.order_id = any($2::uuid[])
        limit $3
      ), deleted as (
        delete from events e
        where e.merchant_id = $1 and e.id = any(array(select p.id from picked p))
        returning e.id
      )
      select count(*)::integer as count
      from deleted`,
    values: [connection.merchantId, orderIds, limit],
  });
  return row?.count ?? 0;
}

type EventBody = { readonly merchantId: string; readonly id: string; readonly body: string };

/** What names an order of a merchant. */
type OrderOfMerchant = { readonly merchantId: string; readonly id: string };

/** Events whose bodies are in memory at the same time. */
const EVENTS_MAX = 500;

/**
 * Changes the bodies of all events of orders, to erase personal data: the one exception from the rule that a body is frozen
 * (docs/design/isolation-and-limits.md, "Personal data"). The order's rows are locked, so that no event is added during the
 * change.
 * @param since before the first event of the orders: it excludes older partitions
 */
export async function rewriteEventBodies(
  tx: Queryable,
  erased: readonly OrderOfMerchant[],
  since: Date,
  rewrite: (body: string) => string,
): Promise<void> {
  const orders = alsoAtFacilities(erased);
  for (let afterId = uuidAt(since); ; ) {
    const events = await listEventBodies(tx, orders, afterId);
    const last = events.at(-1);
    if (last === undefined) return;
    await updateEventBodies(
      tx,
      events.map((event) => ({ ...event, body: rewrite(event.body) })),
      afterId,
    );
    afterId = last.id;
  }
}

/** The next bodies after an id. Uses events_order_idx of each partition. */
const listEventBodies = async (
  tx: Queryable,
  orders: readonly OrderOfMerchant[],
  afterId: string,
): Promise<EventBody[]> =>
  tx.query<EventBody>({
    name: "list-event-bodies-of-orders",
    text: `
      select e.merchant_id as "merchantId", e.id, e.body
      from unnest($1::uuid[], $2::uuid[]) as erased (merchant_id, order_id)
      join events e on e.merchant_id = erased.merchant_id and e.order_id = erased.order_id
      where e.id > $3 and ($5::uuid[] is null or e.merchant_id = any($5))
      order by e.id
      limit $4`,
    values: [
      orders.map(({ merchantId }) => merchantId),
      orders.map(({ id }) => id),
      afterId,
      EVENTS_MAX,
      await merchantsOf(tx, orders),
    ],
  });

async function updateEventBodies(
  tx: Queryable,
  events: readonly EventBody[],
  afterId: string,
): Promise<void> {
  await tx.query({
    name: "update-event-bodies",
    text: `
      update events e
      set body = changed.body
      from unnest($1::uuid[], $2::uuid[], $3::text[]) as changed (merchant_id, id, body)
      where e.merchant_id = changed.merchant_id and e.id = changed.id and e.id > $4
        and ($5::uuid[] is null or e.merchant_id = any($5))`,
    values: [
      events.map(({ merchantId }) => merchantId),
      events.map(({ id }) => id),
      events.map(({ body }) => body),
      afterId,
      await merchantsOf(tx, events),
    ],
  });
}

/** An order of a connection, which may be a test order. */
type OrderOfConnection = ConnectionKey & { readonly testMode: boolean };

/**
 * Which of these event types any endpoint wants of these orders: test endpoints receive test orders only. Paused
 * endpoints count too: they may be resumed.
 */
export async function listWantedTypes(
  tx: Queryable,
  orders: readonly OrderOfConnection[],
  types: Iterable<string>,
): Promise<(order: OrderOfConnection) => ReadonlySet<string>> {
  const rows = await tx.query<{ connection_id: string; mode: KeyMode; type: string }>({
    name: "list-wanted-types",
    text: `
      select distinct w.connection_id, w.mode, possible.type
      from webhook_endpoints w
      join unnest($3::text[]) as possible (type) on possible.type = any(w.event_types)
      where w.merchant_id = any($1::uuid[]) and w.connection_id = any($2::uuid[]) and w.status <> 'deleted'`,
    values: [
      [...new Set(orders.map(({ merchantId }) => merchantId))],
      [...new Set(orders.map(({ connectionId }) => connectionId))],
      [...new Set(types)],
    ],
  });
  const wanted = Map.groupBy(rows, (row) => row.connection_id);
  return ({ connectionId, testMode }) =>
    new Set(
      (wanted.get(connectionId) ?? [])
        .filter(({ mode }) => mode === "live" || testMode)
        .map(({ type }) => type),
    );
}
