import { merchantByMerchant, ofMerchant } from "../distribution/merchant-by-merchant.ts";
import { isExpired } from "../lifecycle/lifecycle.ts";
import { inRequestOrder } from "../lifecycle/lines.ts";
import type {
  Order,
  OrderKey,
  OrderLine,
  OrderRef,
  OrderStatus,
  ShipmentStatus,
} from "../lifecycle/order.ts";
import type { Clock } from "../platform/clock.ts";
import { type ConnectionKey, connectionColumns } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import { isStorableText } from "../platform/wire/text.ts";
import { orderFinder } from "./find-order.ts";
import type { Metadata } from "./note-schemas.ts";

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
  note: string | null;
  metadata: Metadata | null;
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
    weightGrams: number | null;
    trackingNumber: string | null;
    trackingUrl: string | null;
    createdAt: string;
    shippedAt: string | null;
    deliveredAt: string | null;
  }[];
};

/**
 * Reads whole orders, in the form that `toOrder` takes. `merchant` is the expression with which their parts are
 * compared.
 */
const selectOrders = (merchant: "$1" | "coalesce($4::uuid, o.merchant_id)"): string => `
      select o.merchant_id, o.connection_id, o.id, o.test_mode, o.external_order_id, o.status, o.hold_reasons,
             o.first_name, o.last_name, o.name, o.company, o.address1, o.address2, o.city, o.zip,
             o.state_code, o.country_code, o.phone, o.note, o.metadata,
             o.created_at, o.updated_at, o.acceptance_due_at, o.expires_at, o.last_sequence,
             o.routed_at, o.facility_id, o.canceled_at,
             (select json_agg(json_build_object(
                       'id', l.id, 'productId', l.product_id, 'quantity', l.quantity, 'shipmentId', l.shipment_id,
                       'splitFrom', l.split_from, 'returnedQuantity', l.returned_quantity)
                     order by l.id)
              from order_lines l
              where l.merchant_id = ${merchant} and l.order_id = o.id) as lines,
             (select coalesce(json_agg(json_build_object(
                       'id', s.id, 'status', s.status, 'carrier', s.carrier, 'trackingNumber', s.tracking_number,
                       'trackingUrl', s.tracking_url, 'createdAt', s.created_at, 'shippedAt', s.shipped_at,
                       'deliveredAt', s.delivered_at, 'weightGrams', s.weight_grams)
                     order by s.id), '[]')
              from shipments s
              where s.merchant_id = ${merchant} and s.order_id = o.id) as shipments
      from orders o`;
const SELECT_ORDERS = selectOrders("$1");

/**
 * The orders of one connection that have one of the listed ids: each is looked up by its own id, because a plan for the
 * list would read all orders of the merchant while the table is small or new. The planner does not know the length of
 * the list, which is in a subquery. Otherwise it would find a plan for just these few orders cheaper than one for any
 * ten, and make it for each read: five times the cost of reading one order (decision 0110).
 */
const selectListed = (column: "id" | "external_order_id", type: "uuid" | "text"): string => `
      select found.*
      from unnest((select $3::${type}[])) as listed (${column})
      cross join lateral (
        ${SELECT_ORDERS}
        where o.merchant_id = $1 and o.connection_id = $2 and o.${column} = listed.${column}
        limit 1) as found`;

/**
 * Reads whole orders of one connection, by the service's ids, expired test orders included. One statement for both
 * kinds of ids would be shorter, but for it PostgreSQL reads a small table from end to end, at more than twice the
 * cost.
 */
export async function readOrders(
  db: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<Order[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<OrderRow>({
    name: "read-orders",
    text: selectListed("id", "uuid"),
    values: [connection.merchantId, connection.connectionId, [...new Set(ids)]],
  });
  return rows.map(toOrder);
}

/**
 * Reads whole orders of many connections. The subquery keeps the planner from reading all orders to find a few. The parts of
 * an order are compared with the merchant by `coalesce`, because Citus infers nothing within them (decision 0166).
 */
export async function readOrdersByKey(db: Queryable, keys: readonly OrderKey[]): Promise<Order[]> {
  if (keys.length === 0) return [];
  const rows = await merchantByMerchant(db, keys, (own, merchantId) =>
    db.query<OrderRow>({
      name: "read-orders-by-key",
      text: `
        select found.*
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
        cross join lateral (
          ${selectOrders("coalesce($4::uuid, o.merchant_id)")}
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
            and ${ofMerchant("$4", "o.merchant_id")}
          limit 1) as found`,
      values: [...connectionColumns(own), own.map(({ id }) => id), merchantId],
    }),
  );
  return rows.map(toOrder);
}

/** Reads whole orders of one connection, by the partner's ids, expired test orders included. */
export async function readOrdersByExternalId(
  db: Queryable,
  connection: ConnectionKey,
  externalOrderIds: readonly string[],
): Promise<Order[]> {
  if (externalOrderIds.length === 0) return [];
  const rows = await db.query<OrderRow>({
    name: "read-orders-by-external-id",
    text: selectListed("external_order_id", "text"),
    values: [connection.merchantId, connection.connectionId, [...new Set(externalOrderIds)]],
  });
  return rows.map(toOrder);
}

/**
 * Locks an order and reads it under the lock. This takes two statements: the subqueries of a locking statement would
 * return the lines and shipments from before it waited.
 */
export async function lockOrder(
  tx: Queryable,
  connection: ConnectionKey,
  ref: OrderRef,
  clock: Clock,
): Promise<Order | undefined> {
  if (ref.externalOrderId !== null && !isStorableText(ref.externalOrderId)) return undefined; // No order can have such an id.
  const locked = await tx.query<{ id: string }>({
    name: "lock-order",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id in (
        select $3::uuid
        union all
        select named.id
        from orders named
        where named.merchant_id = $1 and named.connection_id = $2 and named.external_order_id = $4)
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

/** Locks and reads the order with this id. */
export async function lockOrderById(tx: Queryable, key: OrderKey, clock: Clock): Promise<Order | undefined> {
  const locked = await tx.query({
    name: "lock-order-by-id",
    text: `
      select o.id
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $3
      for no key update`,
    values: [key.merchantId, key.connectionId, key.id],
  });
  if (locked.length === 0) return undefined;
  const [order] = await readOrders(tx, key, [key.id]);
  return order === undefined || isExpired(order, clock.now()) ? undefined : order;
}

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
    note: row.note,
    metadata: row.metadata ?? {},
    lines: inRequestOrder(row.lines),
    shipments: row.shipments.map((shipment) => ({
      ...shipment,
      createdAt: new Date(shipment.createdAt),
      shippedAt: toDate(shipment.shippedAt),
      deliveredAt: toDate(shipment.deliveredAt),
    })),
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

/** JSON has times as texts. */
const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));
