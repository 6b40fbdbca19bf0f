import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { type PagePosition, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { Attempt, Delivery, DeliveryStatus } from "./delivery.ts";

type DeliveryRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  order_id: string | null;
  not_after: Date | null;
  status: DeliveryStatus;
  next_attempt_at: Date | null;
};

/** What a list of deliveries is filtered by. Null does not filter. */
export type DeliveryFilter = {
  endpointId: string | null;
  orderId: string | null;
  eventId: string | null;
  status: DeliveryStatus | null;
};

/**
 * The columns that `toDelivery` reads. $1 is the merchant, $2 the connection. A delivery may be due in its stream, in a
 * stream of its own after a manual request, or in both. Each is looked up by its whole key, because an endpoint that is
 * down may have very many due deliveries.
 */
const SELECT_DELIVERIES = `
      select d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status,
             least(
               (select q.due_at
                from due_deliveries q
                where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.stream_id
                  and q.delivery_id = d.id and q.claim_id is null),
               (select q.due_at
                from due_deliveries q
                where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
                  and q.delivery_id = d.id and q.claim_id is null)) as next_attempt_at
      from deliveries d`;

/**
 * The filters and the page. Deliveries of a test order are not listed from the time of its erasure on. Returns one row
 * more than the page if there is one.
 */
const FILTERS_AND_PAGE = `
        and d.id < $3 and d.id >= $4 and ($5::uuid is null or d.event_id = $5)
        and ($6::text is null or d.status = $6)
        and (d.not_after is null or d.not_after > $7)
      order by d.id desc
      limit $8 + 1`;

/** The ids of an event's deliveries differ only in their last 32 bits, so they form a range (decision 0028). */
function pageValues(
  connection: ConnectionKey,
  { eventId, status }: DeliveryFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): unknown[] {
  const [first, last] = eventId === null ? [UUID_MIN, UUID_MAX] : rangeOfEvent(eventId);
  const before = afterId < last ? afterId : last; // Ids compare as their text does.
  return [connection.merchantId, connection.connectionId, before, first, eventId, status, now, limit];
}

function rangeOfEvent(eventId: string): [first: string, last: string] {
  const shared = eventId.slice(0, 28);
  return [`${shared}00000000`, `${shared}ffffffff`];
}

/** Lists deliveries, newest first. */
export async function listDeliveries(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<Delivery[]> {
  const rows = await db.query<DeliveryRow>({
    name: "list-deliveries",
    text: `${SELECT_DELIVERIES} where d.merchant_id = $1 and d.connection_id = $2 ${FILTERS_AND_PAGE}`,
    values: pageValues(connection, filter, position, now),
  });
  return rows.map(toDelivery);
}

/** Lists the deliveries of one endpoint. A separate statement, because it uses the index of the endpoint. */
export async function listDeliveriesOfEndpoint(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<Delivery[]> {
  const rows = await db.query<DeliveryRow>({
    name: "list-deliveries-of-endpoint",
    text: `${SELECT_DELIVERIES}
      where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $9 ${FILTERS_AND_PAGE}`,
    values: [...pageValues(connection, filter, position, now), filter.endpointId],
  });
  return rows.map(toDelivery);
}

/** Lists the deliveries of one order. */
export async function listDeliveriesOfOrder(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<Delivery[]> {
  const rows = await db.query<DeliveryRow>({
    name: "list-deliveries-of-order",
    text: `${SELECT_DELIVERIES}
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $9
        and ($10::uuid is null or d.endpoint_id = $10) ${FILTERS_AND_PAGE}`,
    values: [...pageValues(connection, filter, position, now), filter.orderId, filter.endpointId],
  });
  return rows.map(toDelivery);
}

export async function readDelivery(
  db: Queryable,
  connection: ConnectionKey,
  deliveryId: string,
  now: Date,
): Promise<Delivery | null> {
  const [row] = await db.query<DeliveryRow>({
    name: "read-delivery",
    text: `${SELECT_DELIVERIES}
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = $3 and (d.not_after is null or d.not_after > $4)`,
    values: [connection.merchantId, connection.connectionId, deliveryId, now],
  });
  return row === undefined ? null : toDelivery(row);
}

/** All attempts of these deliveries, oldest first. `oldestId` excludes the partitions before it. */
export async function listAttempts(
  db: Queryable,
  connection: ConnectionKey,
  deliveryIds: readonly string[],
  oldestId: string,
): Promise<Attempt[]> {
  return db.query<Attempt>({
    name: "list-attempts",
    text: `
      select a.delivery_id as "deliveryId", a.trigger, a.started_at as "startedAt", a.duration_ms as "durationMs",
             a.response_status as "responseStatus", a.response_body as "responseBody", a.error
      from attempts a
      where a.merchant_id = $1 and a.delivery_id = any($2::uuid[]) and a.id >= $3
      order by a.started_at, a.id`,
    values: [connection.merchantId, deliveryIds, oldestId],
  });
}

const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  eventType: row.event_type,
  orderId: row.order_id,
  notAfter: row.not_after,
  status: row.status,
  nextAttemptAt: row.next_attempt_at,
});
