import type { KeyAccess } from "../../merchants/key-mode.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { type PagePosition, UUID_MAX, UUID_MIN } from "../../platform/wire/cursor.ts";
import type { Delivery, DeliveryStatus } from "./delivery.ts";
import { type DeliveryFilter, type Reading, readingOf } from "./delivery-conditions-sql.ts";

export type DeliveryRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  order_id: string | null;
  not_after: Date | null;
  status: DeliveryStatus;
  next_attempt_at: Date | null;
};

/** The columns of a delivery in the log. */
export const COLUMNS = "d.id, d.endpoint_id, d.event_id, d.event_type, d.order_id, d.not_after, d.status";

/**
 * The earliest time of the next attempt of the delivery `d`. A delivery may be due in its stream, in a stream of its own
 * after a manual request, or in both. Each is looked up by its whole key, because an endpoint that is down may have very
 * many due deliveries. Null while the endpoint is paused: what was due may not be removed yet (decision 0207).
 */
const NEXT_ATTEMPT_AT = `
             (select least(
                (select q.due_at
                 from due_deliveries q
                 where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.stream_id
                   and q.delivery_id = d.id and q.claim_id is null),
                (select q.due_at
                 from due_deliveries q
                 where q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
                   and q.delivery_id = d.id and q.claim_id is null))
              from webhook_endpoints w
              where w.merchant_id = $1 and w.id = d.endpoint_id and w.status = 'active') as next_attempt_at`;

/**
 * The newest deliveries in a scope that fit the filters, one more than the page if there is one. No index knows the
 * status (decision 0033), so it reads the deliveries of the scope by id, but not more than `rowsMax`. The last of these is
 * returned even if it does not fit, so that the next page can continue after it.
 */
const newestIn = (scope: string, { filters, rowsMax }: Reading): string => `
      select ${COLUMNS}, d.stream_id, d.fits, d.is_last,${NEXT_ATTEMPT_AT}
      from (
        select ${COLUMNS}, d.stream_id, (${filters}) as fits,
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
      select ${COLUMNS}, true as fits, false as is_last,${NEXT_ATTEMPT_AT}
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.stream_id = $7 and d.id < $3 and d.id >= $4
        and ${readingOf(filter).filters}
      order by d.id desc
      limit $10 + 1`,
    values: pageValues(access, filter, position, now),
  });
  return toListed(rows);
}

/** Whether an order has more deliveries than `listDeliveriesOfOrder` may read with this filter. */
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

/** The ids of an event's deliveries differ only in their last 32 bits, so they form a range (decision 0028). */
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
      select ${COLUMNS},${NEXT_ATTEMPT_AT}
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
  nextAttemptAt: row.next_attempt_at,
});
