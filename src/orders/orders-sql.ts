import type {
  Order,
  OrderLine,
  OrderRef,
  OrderStatus,
  Shipment,
  ShipmentStatus,
} from "../lifecycle/order.ts";
import type { Clock } from "../platform/clock.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { FeedPositions } from "../webhooks/publishing/events-sql.ts";
import { orderFinder } from "./find-order.ts";

type OrderRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  test_mode: boolean;
  external_order_id: string | null;
  status: OrderStatus;
  hold_reasons: string[];
  first_name: string;
  last_name: string;
  name: string | null;
  company: string | null;
  address1: string;
  address2: string | null;
  city: string;
  zip: string;
  state_code: string | null;
  country_code: string;
  phone: string | null;
  created_at: Date;
  updated_at: Date;
  acceptance_due_at: Date | null;
  expires_at: Date | null;
  last_sequence: number;
  routed_at: Date | null;
  facility_id: string | null;
  canceled_at: Date | null;
  lines: OrderLine[];
  shipments: {
    id: string;
    status: ShipmentStatus;
    carrier: string | null;
    trackingNumber: string | null;
    trackingUrl: string | null;
    createdAt: string;
  }[];
};

/** An order whole, as `toOrder` reads it; $1 is the merchant. */
const SELECT_ORDERS = `
      select o.merchant_id, o.connection_id, o.id, o.test_mode, o.external_order_id, o.status, o.hold_reasons,
             o.first_name, o.last_name, o.name, o.company, o.address1, o.address2, o.city, o.zip,
             o.state_code, o.country_code, o.phone,
             o.created_at, o.updated_at, o.acceptance_due_at, o.expires_at, o.last_sequence,
             o.routed_at, o.facility_id, o.canceled_at,
             (select json_agg(json_build_object(
                       'id', l.id, 'productId', l.product_id, 'quantity', l.quantity, 'shipmentId', l.shipment_id)
                     order by l.id)
              from order_lines l
              where l.merchant_id = $1 and l.order_id = o.id) as lines,
             (select coalesce(json_agg(json_build_object(
                       'id', s.id, 'status', s.status, 'carrier', s.carrier, 'trackingNumber', s.tracking_number,
                       'trackingUrl', s.tracking_url, 'createdAt', s.created_at)
                     order by s.id), '[]')
              from shipments s
              where s.merchant_id = $1 and s.order_id = o.id) as shipments
      from orders o`;

/**
 * Reads orders of one connection whole, by the service's ids. Expired test orders are among them. By either id in one
 * statement would be shorter, but PostgreSQL then reads a small table whole, which costs more than twice as much.
 */
export async function readOrders(
  db: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<Order[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<OrderRow>({
    name: "read-orders",
    text: `${SELECT_ORDERS} where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[])`,
    values: [connection.merchantId, connection.connectionId, ids],
  });
  return rows.map(toOrder);
}

/** Reads orders of one connection whole, by the partner's own ids. Expired test orders are among them. */
export async function readOrdersByExternalId(
  db: Queryable,
  connection: ConnectionKey,
  externalOrderIds: readonly string[],
): Promise<Order[]> {
  if (externalOrderIds.length === 0) return [];
  const rows = await db.query<OrderRow>({
    name: "read-orders-by-external-id",
    text: `${SELECT_ORDERS} where o.merchant_id = $1 and o.connection_id = $2 and o.external_order_id = any($3::text[])`,
    values: [connection.merchantId, connection.connectionId, externalOrderIds],
  });
  return rows.map(toOrder);
}

/**
 * Locks an order and reads it as the lock's previous holder left it. Two statements on purpose: subqueries of a
 * locking statement still see the lines and shipments of the time before the wait.
 */
export async function lockOrder(
  tx: Queryable,
  connection: ConnectionKey,
  ref: OrderRef,
  clock: Clock,
): Promise<Order | undefined> {
  const locked = await tx.query<{ id: string }>({
    name: "lock-order",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and (o.id = $3 or o.external_order_id = $4)
      order by o.id
      for no key update`,
    values: [connection.merchantId, connection.connectionId, ref.id, ref.externalOrderId],
  });
  if (locked.length === 0) return undefined;
  const orders = await readOrders(
    tx,
    connection,
    locked.map(({ id }) => id),
  );
  return orderFinder(orders, clock.now())(ref);
}

/**
 * The position in the feed of the next event of the order `o`: the id of this transaction, or the position of the order's
 * previous event if that is later (decision 0027). A transaction that waited for the order can have an earlier id than the
 * one it waited for.
 *
 * A previous position at or beyond the end of the snapshot comes from another server, from which the data was restored.
 * It does not count, because readers that have passed it would never see the event. That holds only in a statement that
 * begins after the order has been locked: the snapshot of the locking statement itself may be older than the previous event.
 */
export const NEXT_FEED_POSITION = `
          case
            when o.last_feed_position < pg_snapshot_xmax(pg_current_snapshot())
            then greatest(o.last_feed_position, pg_current_xact_id())
            else pg_current_xact_id()
          end`;

export const toFeedPositions = (rows: readonly { id: string; last_feed_position: string }[]): FeedPositions =>
  new Map(rows.map((row) => [row.id, row.last_feed_position]));

/** Stores what a transition changed; returns the position of its events. The caller has locked the order. */
export async function saveOrder(tx: Queryable, before: Order, after: Order): Promise<FeedPositions> {
  const updated = await tx.query<{ id: string; last_feed_position: string }>({
    name: "update-order",
    text: `
      update orders o
      set status = $4, hold_reasons = $5, updated_at = $6, last_sequence = $7, canceled_at = $9,
          last_feed_position = ${NEXT_FEED_POSITION}
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $3 and o.last_sequence = $8
      returning o.id, o.last_feed_position`,
    values: [
      after.merchantId,
      after.connectionId,
      after.id,
      after.status,
      after.holdReasons,
      after.updatedAt,
      after.lastSequence,
      before.lastSequence,
      after.canceledAt,
    ],
  });
  // No constraint makes sequences unique, because events are partitioned by their own id. The lock does, and this check
  // would report a failure.
  if (updated.length === 0) throw new Error("An order changed although its lock was held.");
  for (const shipment of after.shipments) {
    const stored = before.shipments.find(({ id }) => id === shipment.id);
    if (stored === undefined) await insertShipment(tx, after, shipment);
    else if (stored !== shipment) await updateShipment(tx, after, shipment);
  }
  return toFeedPositions(updated);
}

/** Stores changed holds of orders of one connection; returns the positions of their events. The caller holds their locks. */
export async function saveHolds(
  tx: Queryable,
  connection: ConnectionKey,
  steps: readonly { readonly before: Order; readonly after: Order }[],
): Promise<FeedPositions> {
  const updated = await tx.query<{ id: string; last_feed_position: string }>({
    name: "save-holds",
    text: `
      update orders o
      set hold_reasons = held.hold_reasons, updated_at = held.updated_at, last_sequence = held.last_sequence,
          last_feed_position = ${NEXT_FEED_POSITION}
      from json_to_recordset($3::json) as held (
        id uuid, hold_reasons text[], updated_at timestamptz, last_sequence integer, sequence_before integer)
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = held.id and o.last_sequence = held.sequence_before
      returning o.id, o.last_feed_position`,
    values: [
      connection.merchantId,
      connection.connectionId,
      JSON.stringify(
        steps.map(({ before, after }) => ({
          id: after.id,
          hold_reasons: after.holdReasons,
          updated_at: after.updatedAt,
          last_sequence: after.lastSequence,
          sequence_before: before.lastSequence,
        })),
      ),
    ],
  });
  if (updated.length !== steps.length) throw new Error("An order changed although its lock was held.");
  return toFeedPositions(updated);
}

async function insertShipment(tx: Queryable, order: Order, shipment: Shipment): Promise<void> {
  const lineIds = order.lines.filter((line) => line.shipmentId === shipment.id).map((line) => line.id);
  await tx.query({
    name: "insert-shipment",
    text: `
      insert into shipments (merchant_id, order_id, id, status, carrier, tracking_number, tracking_url, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [...toShipmentValues(order, shipment), shipment.createdAt],
  });
  await tx.query({
    name: "ship-lines",
    text: `
      update order_lines
      set shipment_id = $4
      where merchant_id = $1 and order_id = $2 and id = any($3::uuid[]) and shipment_id is null`,
    values: [order.merchantId, order.id, lineIds, shipment.id],
  });
}

async function updateShipment(tx: Queryable, order: Order, shipment: Shipment): Promise<void> {
  await tx.query({
    name: "update-shipment",
    text: `
      update shipments
      set status = $4, carrier = $5, tracking_number = $6, tracking_url = $7
      where merchant_id = $1 and order_id = $2 and id = $3`,
    values: toShipmentValues(order, shipment),
  });
}

const toShipmentValues = (order: Order, shipment: Shipment): unknown[] => [
  order.merchantId,
  order.id,
  shipment.id,
  shipment.status,
  shipment.carrier,
  shipment.trackingNumber,
  shipment.trackingUrl,
];

function toOrder(row: OrderRow): Order {
  return {
    merchantId: row.merchant_id,
    connectionId: row.connection_id,
    id: row.id,
    testMode: row.test_mode,
    externalOrderId: row.external_order_id,
    status: row.status,
    holdReasons: row.hold_reasons,
    shippingAddress: {
      firstName: row.first_name,
      lastName: row.last_name,
      name: row.name,
      company: row.company,
      address1: row.address1,
      address2: row.address2,
      city: row.city,
      zip: row.zip,
      stateCode: row.state_code,
      countryCode: row.country_code,
      phone: row.phone,
    },
    lines: row.lines,
    shipments: row.shipments.map((shipment) => ({ ...shipment, createdAt: new Date(shipment.createdAt) })),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    acceptanceDueAt: row.acceptance_due_at,
    expiresAt: row.expires_at,
    lastSequence: row.last_sequence,
    routedAt: row.routed_at,
    facilityId: row.facility_id,
    canceledAt: row.canceled_at,
  };
}
