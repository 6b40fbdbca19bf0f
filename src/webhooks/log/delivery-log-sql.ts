import type { OrderKey } from "../../lifecycle/order.ts";
import type { KeyAccess } from "../../merchants/api-key.ts";
import { type ConnectionKey, connectionColumns } from "../../platform/connection-key.ts";
import { merchantByMerchant } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { type PagePosition, ROWS_READ_MAX, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { FaultName } from "../faults/delivery-fault.ts";
import type { Delivery, DeliveryStatus, LoggedAttempt } from "./delivery.ts";

export type DeliveryRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  order_id: string | null;
  not_after: Date | null;
  status: DeliveryStatus;
  fault: FaultName | null;
  next_attempt_at: Date | null;
};

/**
 * The newest deliveries in a scope that fit the filters, one more than the page if there is one. No index knows the status
 * (docs/design/deliveries.md, "Streams"), so it reads the deliveries of the scope by id, but not more than `rowsMax`. The last
 * of these is returned even if it does not fit, so that the next page can continue after it. Deliveries of a test order are not
 * listed from the time of its erasure on. A test key sees none of real orders
 * (docs/design/isolation-and-limits.md, "Live and test keys"): only those of test orders expire.
 *
 * A delivery may be due in its stream, in a stream of its own after a manual request, or in both. Each is looked up by its
 * whole key, because an endpoint that is down may have very many due deliveries. `next_attempt_at` is null while the endpoint
 * is paused: what was due may not be removed yet (docs/design/deliveries.md, "Backoff and pause").
 */
const newestIn = (scope: string, { attempts, rowsMax }: Reading): string => `
      select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status, d.stream_id,
             d.fault, d.fits, d.is_last,
             (
               select least(
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.stream_id
                    and q.delivery_id = d.id and q.claim_id is null),
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
                    and q.delivery_id = d.id and q.claim_id is null))
               from webhook_endpoints w
               where w.merchant_id = $1 and w.id = d.endpoint_id and w.status = 'active') as next_attempt_at
      from (
        select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status, d.stream_id,
               d.fault ->> 'fault' as fault,
               (($5::uuid is null or d.event_id = $5) and ($6::text is null or d.status = $6)
                 and ($7::uuid is null or d.order_id = $7) and ($8::uuid is null or d.endpoint_id = $8)
                 and (d.not_after is null or d.not_after > $9)
                 and (not $11::boolean or d.order_id is null or d.not_after is not null)
                 and ($12::text is null or d.event_type = $12)
                 and ${attempts}) as fits,
               row_number() over (order by d.id desc) = ${rowsMax} as is_last
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and ${scope} and d.id < $3 and d.id >= $4
        order by d.id desc
        limit ${rowsMax}) as d
      where d.fits or d.is_last
      order by d.id desc
      limit $10 + 1`;

/** Deliveries that fit the filters. `readTo` is the last one that was read if reading ended before the page was full. */
export type ListedDeliveries = { readonly deliveries: readonly Delivery[]; readonly readTo: string | null };

type ListedRow = DeliveryRow & { fits: boolean; is_last: boolean };

/** Lists deliveries, newest first. */
export async function listDeliveries(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<ListedDeliveries> {
  const rows = await db.query<ListedRow>({
    name: `list-deliveries${readingOf(filter).suffix}`,
    text: newestIn("true", readingOf(filter)),
    values: pageValues(access, filter, position, now),
  });
  return toListed(rows);
}

/** Lists the deliveries of one endpoint. A separate statement, because it uses the index of the endpoint. */
export async function listDeliveriesOfEndpoint(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<ListedDeliveries> {
  const rows = await db.query<ListedRow>({
    name: `list-deliveries-of-endpoint${readingOf(filter).suffix}`,
    text: newestIn("d.endpoint_id = $8", readingOf(filter)),
    values: pageValues(access, filter, position, now),
  });
  return toListed(rows);
}

/** Lists the deliveries of one order, all of which it reads. Only for an order that has no more than ROWS_READ_MAX. */
export async function listDeliveriesOfOrder(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<ListedDeliveries> {
  const rows = await db.query<ListedRow>({
    name: `list-deliveries-of-order${readingOf(filter).suffix}`,
    text: `
      select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status,
             d.fault ->> 'fault' as fault, true as fits, false as is_last,
             (
               select least(
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.stream_id
                    and q.delivery_id = d.id and q.claim_id is null),
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
                    and q.delivery_id = d.id and q.claim_id is null))
               from webhook_endpoints w
               where w.merchant_id = $1 and w.id = d.endpoint_id and w.status = 'active') as next_attempt_at
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $7 and d.id < $3 and d.id >= $4
        and ($5::uuid is null or d.event_id = $5) and ($6::text is null or d.status = $6)
        and ($7::uuid is null or d.order_id = $7) and ($8::uuid is null or d.endpoint_id = $8)
        and (d.not_after is null or d.not_after > $9)
        and (not $11::boolean or d.order_id is null or d.not_after is not null)
        and ($12::text is null or d.event_type = $12)
        and ${readingOf(filter).attempts}
      order by d.id desc
      limit $10 + 1`,
    values: pageValues(access, filter, position, now),
  });
  return toListed(rows);
}

/** True if an order has more deliveries than `listDeliveriesOfOrder` may read with this filter. */
export async function hasManyDeliveries(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
): Promise<boolean> {
  const rows = await db.query({
    name: "has-many-deliveries",
    text: `
      select 1
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3
      offset $4
      limit 1`,
    values: [connection.merchantId, connection.connectionId, filter.orderId, readingOf(filter).rowsMax],
  });
  return rows.length > 0;
}

/**
 * The ids of an event's deliveries differ only in their last 32 bits, so they form a range
 * (docs/design/deliveries.md, "Delivery ids").
 */
function pageValues(
  { merchantId, connectionId, testOnly }: KeyAccess,
  filter: DeliveryFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): unknown[] {
  const { eventId, status, orderId, endpointId, eventType, hasFailedAttempts } = filter;
  const [first, last] = rangeOf(filter);
  const before = afterId < last ? afterId : last; // Ids compare as their text does.
  const values = [
    merchantId,
    connectionId,
    before,
    first,
    eventId,
    status,
    orderId,
    endpointId,
    now,
    limit,
    testOnly,
    eventType,
  ];
  return [...values, hasFailedAttempts];
}

/** The ids that fit the filters by event and by time, which ids begin with. */
function rangeOf({ eventId, since, until }: DeliveryFilter): [first: string, before: string] {
  const [first, last] = eventId === null ? [UUID_MIN, UUID_MAX] : rangeOfEvent(eventId);
  const [from, to] = [since === null ? UUID_MIN : uuidAt(since), until === null ? UUID_MAX : uuidAt(until)];
  return [from > first ? from : first, to < last ? to : last];
}

function rangeOfEvent(eventId: string): [first: string, last: string] {
  const shared = eventId.slice(0, 28);
  return [`${shared}00000000`, `${shared}ffffffff`];
}

function toListed(rows: readonly ListedRow[]): ListedDeliveries {
  const last = rows.at(-1);
  return {
    deliveries: rows.filter(({ fits }) => fits).map(toDelivery),
    readTo: last?.is_last ? last.id : null,
  };
}

export async function readDelivery(
  db: Queryable,
  access: KeyAccess,
  deliveryId: string,
  now: Date,
): Promise<Delivery | null> {
  const [row] = await db.query<DeliveryRow>({
    name: "read-delivery",
    text: `
      select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status, d.fault ->> 'fault' as fault,
             (
               select least(
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.stream_id
                    and q.delivery_id = d.id and q.claim_id is null),
                 (select q.due_at
                  from due_deliveries q
                  where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
                    and q.delivery_id = d.id and q.claim_id is null))
               from webhook_endpoints w
               where w.merchant_id = $1 and w.id = d.endpoint_id and w.status = 'active') as next_attempt_at
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = $3 and (d.not_after is null or d.not_after > $4)
        and (not $5::boolean or d.order_id is null or d.not_after is not null)`,
    values: [access.merchantId, access.connectionId, deliveryId, now, access.testOnly],
  });
  return row === undefined ? null : toDelivery(row);
}

export const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  eventType: row.event_type,
  orderId: row.order_id,
  notAfter: row.not_after,
  status: row.status,
  fault: row.fault,
  nextAttemptAt: row.next_attempt_at,
});

/** A delivery as a certification looks at it. */
export type StreamDelivery = {
  readonly id: string;
  readonly streamId: string;
  readonly eventType: string;
  readonly sequence: number | null;
  readonly status: DeliveryStatus;
  readonly fault: FaultName | null;
};

/** The deliveries of streams to one endpoint, in their order. */
export const listDeliveriesOfStreams = (
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  endpointId: string,
  streamIds: readonly string[],
): Promise<StreamDelivery[]> =>
  db.query<StreamDelivery>({
    name: "list-deliveries-of-streams",
    text: `
      select d.id, d.stream_id as "streamId", d.event_type as "eventType", d.sequence, d.status,
             d.fault ->> 'fault' as fault
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $3 and d.stream_id = any($4::uuid[])
      order by d.stream_id, d.sequence, d.id`,
    values: [merchantId, connectionId, endpointId, streamIds],
  });

/** A delivery, and the connection by which it is found. */
export type DeliveryKey = ConnectionKey & { readonly id: string };

/**
 * The newest attempts of these deliveries, at most `limit` of each, oldest first: one may be in the row of its delivery
 * (docs/design/deliveries.md, "Outcomes"). Within a millisecond it is after those of its stream and before those by hand.
 * `oldestId` excludes the partitions before it.
 */
export async function listAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  { oldestId, limit }: { oldestId: string; limit: number },
): Promise<LoggedAttempt[]> {
  return merchantByMerchant(db, deliveries, (own, merchantId) =>
    db.query<LoggedAttempt>({
      name: "list-attempts",
      text: `
        select newest.delivery_id as "deliveryId", newest.id, newest.trigger, newest.started_at as "startedAt",
               newest.duration_ms as "durationMs", newest.response_status as "responseStatus",
               newest.response_body as "responseBody", newest.error, newest.fault
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, id)
        cross join lateral (
          (select a.delivery_id, a.id, a.trigger, a.started_at, a.duration_ms, a.response_status, a.response_body, a.error,
                  a.fault, case when a.trigger = 'manual' then 2 else 0 end as place
           from attempts a
           where a.merchant_id = requested.merchant_id and a.delivery_id = requested.id and a.id >= $4
             and ($6::uuid is null or a.merchant_id = $6)
           order by a.id desc
           limit $5)
          union all
          select d.id, null, d.trigger, d.started_at, d.duration_ms, d.response_status, d.response_body, null,
                 null, 1
          from deliveries d
          where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
            and d.id = requested.id and d.started_at is not null and ($6::uuid is null or d.merchant_id = $6)
          order by started_at desc, place desc, id desc
          limit $5) as newest
        order by newest.started_at, newest.place, newest.id`,
      values: [...connectionColumns(own), own.map(({ id }) => id), oldestId, limit, merchantId],
    }),
  );
}

/** How many attempts these deliveries have, at most `countMax` each, by delivery. */
export async function countDeliveryAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  { oldestId, countMax }: { oldestId: string; countMax: number },
): Promise<ReadonlyMap<string, number>> {
  if (deliveries.length === 0) return new Map();
  const rows = await merchantByMerchant(db, deliveries, (own, merchantId) =>
    db.query<{ id: string; count: number }>({
      name: "count-attempts",
      text: `
        select requested.id,
               (select count(*)::integer
                from (
                  select
                  from attempts a
                  where a.merchant_id = requested.merchant_id and a.delivery_id = requested.id and a.id >= $4
                    and ($6::uuid is null or a.merchant_id = $6)
                  union all
                  select
                  from deliveries d
                  where d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
                    and d.id = requested.id and d.started_at is not null and ($6::uuid is null or d.merchant_id = $6)
                  limit $5) as counted) as count
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, id)`,
      values: [...connectionColumns(own), own.map(({ id }) => id), oldestId, countMax, merchantId],
    }),
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** What a list of deliveries is filtered by. Null does not filter. */
export type DeliveryFilter = {
  endpointId: string | null;
  orderId: string | null;
  eventId: string | null;
  status: DeliveryStatus | null;
  eventType: string | null;
  /** Only deliveries of events from this time on. */
  since: Date | null;
  /** Only deliveries of events before this time. */
  until: Date | null;
  hasFailedAttempts: boolean | null;
};

/**
 * Deliveries that a page with the filter `hasFailedAttempts` reads, at most. Fewer than ROWS_READ_MAX, because each of them is
 * looked up in the attempts of every day since its event (docs/design/deliveries.md, "The delivery log").
 */
export const FAILED_READ_MAX = 1_000;

/** Whether lists look up attempts: the condition on the delivery `d`, with what follows from it. */
type Reading = { readonly attempts: string; readonly rowsMax: number; readonly suffix: string };
const PLAIN: Reading = { attempts: "$13::boolean is null", rowsMax: ROWS_READ_MAX, suffix: "" };
/**
 * The delivery has a failed attempt ($13 true), or has none ($13 false). The id of an attempt at the time of the event, or a
 * little before it (CLOCK_SKEW_MAX_MS), excludes the partitions of earlier days.
 */
const WITH_ATTEMPTS: Reading = {
  attempts: `$13::boolean = exists (
                   select from attempts a
                   where a.merchant_id = $1 and a.delivery_id = d.id and a.error is not null
                     and a.id >= (
                       lpad(to_hex(('x' || left(replace(d.id::text, '-', ''), 12))::bit(48)::bigint - 3600000), 12, '0')
                       || '00000000000000000000')::uuid)`,
  rowsMax: FAILED_READ_MAX,
  suffix: "-by-failure",
};
const readingOf = ({ hasFailedAttempts }: DeliveryFilter): Reading =>
  hasFailedAttempts === null ? PLAIN : WITH_ATTEMPTS;

/** Deliveries that an event shows. It has one for each endpoint that wants its type. */
export const DELIVERIES_SHOWN_MAX = 20;

export type OrderEvent = {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly deliveries: readonly OrderEventDelivery[];
};

type OrderEventDelivery = {
  readonly id: string;
  readonly endpointId: string;
  /** Null of a pull endpoint. */
  readonly url: string | null;
  readonly status: DeliveryStatus;
};

/** An id that the table has as text within JSON. */
type Row = { id: string; type: string; sequence: number; deliveries: OrderEventDelivery[] };

/**
 * The events of an order after an id, oldest first, with their first deliveries; one more than the page if there is one. Events
 * that are not kept any more are left out: `oldestId`. By the index of the order; a delivery is of the stream of its order, and
 * its id begins as that of its event does (docs/design/deliveries.md, "Delivery ids").
 */
export async function listOrderEvents(
  db: Queryable,
  { merchantId, connectionId, id }: OrderKey,
  { afterId, limit, oldestId, now }: { afterId: string; limit: number; oldestId: string; now: Date },
): Promise<OrderEvent[]> {
  return db.query<Row>({
    name: "list-order-events",
    text: `
      select e.id, e.type, e.sequence,
             (select coalesce(json_agg(shown), '[]'::json)
              from (
                select d.id, d.endpoint_id as "endpointId", w.url, d.status
                from deliveries d
                join webhook_endpoints w on w.merchant_id = $1 and w.id = d.endpoint_id
                where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3 and d.event_id = e.id
                order by d.id
                limit 20) as shown) as deliveries
      from (
        select e.id, e.type, e.sequence
        from events e
        where e.merchant_id = $1 and e.connection_id = $2 and e.order_id = $3 and e.id > $4 and e.id >= $6
          and (e.not_after is null or e.not_after > $7)
        order by e.id
        limit $5 + 1) as e
      order by e.id`,
    values: [merchantId, connectionId, id, afterId, limit, oldestId, now],
  });
}

/** How much of an order an endpoint has accepted. */
export type OrderProgress = {
  readonly endpointId: string;
  /** Null of a pull endpoint. */
  readonly url: string | null;
  /** The highest that it has accepted. Null if it has accepted none. */
  readonly acknowledgedSequence: number | null;
  /** The highest that was published to it. Null if all were without one. */
  readonly sequence: number | null;
  /** The oldest event that is pending. Null if there is none. */
  readonly pendingEventId: string | null;
};

/** By the index of the order. Deleted endpoints are left out. */
export async function listOrderProgress(
  db: Queryable,
  { merchantId, connectionId, id }: OrderKey,
): Promise<OrderProgress[]> {
  return db.query<OrderProgress>({
    name: "list-order-progress",
    text: `
      select w.id as "endpointId", w.url,
             max(d.sequence) filter (where d.status = 'succeeded') as "acknowledgedSequence",
             max(d.sequence) as sequence,
             min(d.event_id::text) filter (where d.status = 'pending') as "pendingEventId"
      from deliveries d
      join webhook_endpoints w on w.merchant_id = $1 and w.id = d.endpoint_id
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $3 and w.status <> 'deleted'
      group by w.id, w.url
      order by w.id
      limit 200`,
    values: [merchantId, connectionId, id],
  });
}
