import { isExpired } from "../lifecycle/lifecycle.ts";
import type {
  Order,
  OrderKey,
  OrderLine,
  OrderRef,
  OrderState,
  OrderStatus,
  ShipmentStatus,
} from "../lifecycle/order.ts";
import { inRequestOrder } from "../lifecycle/parts.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../platform/connection-key.ts";
import { merchantByMerchant } from "../platform/database/citus.ts";
import { plainArray, type Queryable } from "../platform/database/database.ts";
import type { Clock } from "../platform/time.ts";
import { isStorableText } from "../platform/wire/problems.ts";
import type { OrderSelection } from "./changes/process-orders.ts";
import type { Metadata } from "./order-wire.ts";

/**
 * A whole order `o` with what was ordered, `r`: the columns of an `OrderRow`. @param merchant the expression that its parts are
 * compared with
 */
const ORDER_COLUMNS = (
  merchant: string,
): string => `o.merchant_id, o.connection_id, o.id, o.test_mode, o.status, o.hold_reasons,
               o.country_code, o.created_at, o.updated_at, o.acceptance_due_at, o.expires_at, o.last_sequence,
               o.routed_at, o.facility_id, o.canceled_at, o.xmin as written_by,
               r.external_order_id, r.first_name, r.last_name, r.name, r.company, r.address1, r.address2, r.city, r.zip,
               r.state_code, r.phone, r.note, r.metadata,
               (select json_agg(line)
                from (select l.id, l.product_id as "productId", l.quantity, l.shipment_id as "shipmentId",
                             l.split_from as "splitFrom", l.returned_quantity as "returnedQuantity",
                             l.cancellation_id as "cancellationId"
                      from order_lines l
                      where l.merchant_id = ${merchant} and l.order_id = o.id
                      order by l.id) as line) as lines,
               (select json_agg(shipment)
                from (select s.id, s.status, s.carrier, s.tracking_number as "trackingNumber",
                             s.tracking_url as "trackingUrl", s.created_at as "createdAt", s.shipped_at as "shippedAt",
                             s.handover_reported as "handoverReported", s.scanned_tracking_number as "scannedTrackingNumber",
                             s.delivered_at as "deliveredAt", s.weight_grams as "weightGrams"
                      from shipments s
                      where s.merchant_id = ${merchant} and s.order_id = o.id
                      order by s.id) as shipment) as shipments`;

/**
 * Reads whole orders of one connection, by the service's ids, expired test orders included. One statement for both kinds of ids
 * would be shorter, but for it PostgreSQL reads a small table from end to end, at more than twice the cost. Each order is
 * looked up by its own id, because a plan for the list would read all orders of the merchant while the table is small or new.
 * The planner does not know the length of the list, which is in a subquery. Otherwise it would find a plan for just these few
 * orders cheaper than one for any ten, and make it for each read: five times the cost of reading one order
 * (docs/design/database.md, "Plans and statistics").
 */
export async function readOrders(
  db: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<Order[]> {
  return (await readVersionedOrders(db, connection, ids)).map(({ order }) => order);
}

/** The same, with their versions. */
export async function readVersionedOrders(
  db: Queryable,
  connection: ConnectionKey,
  ids: readonly string[],
): Promise<VersionedOrder[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<OrderRow>({
    name: "read-orders",
    text: `
      select found.*
      from unnest((select $3::uuid[])) as listed (id)
      cross join lateral (
        select ${ORDER_COLUMNS("$1")}
        from orders o
        join order_requests r on r.merchant_id = $1 and r.order_id = o.id
        where o.merchant_id = $1 and o.connection_id = $2 and o.id = listed.id
        limit 1) as found`,
    values: [connection.merchantId, connection.connectionId, [...new Set(ids)]],
  });
  return rows.map(toVersionedOrder);
}

/**
 * Of these orders of one connection, those that have changed since they were read, or that it does not have: a look at their
 * rows alone, which finds none for most reads (docs/design/performance.md, "Orders that are known").
 */
export async function listChanged(
  db: Queryable,
  connection: ConnectionKey,
  known: readonly VersionedOrder[],
): Promise<string[]> {
  if (known.length === 0) return [];
  const rows = await db.query<{ id: string }>({
    name: "list-changed-orders",
    text: `
      select listed.id
      from unnest((select $3::uuid[]), (select $4::xid[]), (select $5::timestamptz[]))
             as listed (id, written_by, updated_at)
      left join lateral (
        select o.id
        from orders o
        where o.merchant_id = $1 and o.connection_id = $2 and o.id = listed.id
          and o.xmin = listed.written_by and o.updated_at = listed.updated_at
        limit 1) as same on true
      where same.id is null`,
    values: [
      connection.merchantId,
      connection.connectionId,
      plainArray(known.map(({ order }) => order.id)),
      plainArray(known.map(({ version }) => version.writtenBy)),
      plainArray(known.map(({ version }) => version.updatedAt)),
    ],
  });
  return rows.map(({ id }) => id);
}

/**
 * Reads whole orders of many connections. The subquery keeps the planner from reading all orders to find a few. The parts of an
 * order are compared with the merchant by `coalesce`, because Citus infers nothing within them
 * (docs/design/distribution.md, "Merchant by merchant").
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
          select ${ORDER_COLUMNS("coalesce($4::uuid, o.merchant_id)")}
          from orders o
          join order_requests r on r.merchant_id = coalesce($4::uuid, o.merchant_id) and r.order_id = o.id
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
            and ($4::uuid is null or o.merchant_id = $4)
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
    text: `
      select found.*
      from unnest((select $3::text[])) as listed (external_order_id)
      cross join lateral (
        select ${ORDER_COLUMNS("$1")}
        from order_requests r
        join orders o on o.merchant_id = $1 and o.id = r.order_id
        where r.merchant_id = $1 and r.connection_id = $2 and r.external_order_id = listed.external_order_id
        limit 1) as found`,
    values: [connection.merchantId, connection.connectionId, [...new Set(externalOrderIds)]],
  });
  return rows.map(toOrder);
}

/** Reads the order of one connection that a reference names at `now`, without a lock. */
export async function findNamedOrder(
  db: Queryable,
  connection: ConnectionKey,
  ref: OrderRef,
  now: Date,
): Promise<Order | undefined> {
  const { id, externalOrderId } = ref;
  const byId = id === null ? [] : await readOrders(db, connection, [id]);
  const isStorable = externalOrderId !== null && isStorableText(externalOrderId);
  const byName = isStorable ? await readOrdersByExternalId(db, connection, [externalOrderId]) : [];
  return orderFinder([...byId, ...byName], now)(ref);
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
        select named.order_id
        from order_requests named
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

/** Locks real orders of many connections, and reads them under their locks. Test orders are left out. By id. */
export async function lockRealOrders(
  tx: Queryable,
  keys: readonly OrderKey[],
): Promise<ReadonlyMap<string, Order>> {
  // All transactions lock orders in this order.
  const inOrder = keys.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const locked = await merchantByMerchant(tx, inOrder, (own, merchantId) =>
    tx.query<ConnectionKeyRow & { id: string }>({
      name: "lock-real-orders",
      text: `
        select found.*
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
        cross join lateral (
          select o.merchant_id, o.connection_id, o.id
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
            and not o.test_mode and ($4::uuid is null or o.merchant_id = $4)
          limit 1
          for no key update) as found`,
      values: [...connectionColumns(own), own.map(({ id }) => id), merchantId],
    }),
  );
  const orders = await readOrdersByKey(
    tx,
    locked.map((row) => ({ ...toConnectionKey(row), id: row.id })),
  );
  return new Map(orders.map((order) => [order.id, order]));
}

/**
 * Finds the orders of one connection that references name at `now`: first by the service's id, then by the partner's own
 * (docs/design/api-conventions.md, "Ids"). Expired test orders are skipped, so the erasure changes no response.
 */
export function orderFinder(orders: readonly Order[], now: Date): (ref: OrderRef) => Order | undefined {
  const byId = new Map<string, Order>();
  const byExternalId = new Map<string, Order>();
  for (const order of orders) {
    if (isExpired(order, now)) continue;
    byId.set(order.id, order);
    if (order.externalOrderId !== null) byExternalId.set(order.externalOrderId, order);
  }
  return ({ id, testMode, externalOrderId }) => {
    const named = id === null ? undefined : byId.get(id);
    if (named?.testMode === testMode) return named;
    return externalOrderId === null ? undefined : byExternalId.get(externalOrderId);
  };
}

/**
 * The state of an order that was read: the transaction that wrote its row, and when it last changed. Every change of an order,
 * of its lines or of its shipments writes the order's row (docs/design/performance.md, "Orders that are known").
 */
type OrderVersion = { readonly writtenBy: string; readonly updatedAt: string };

/** An order as it is stored, and its version. */
export type VersionedOrder = { readonly order: Order; readonly version: OrderVersion };

/** An order as a statement returns it, its lines and shipments as JSON. */
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
  written_by: string;
  lines: OrderLine[];
  shipments:
    | {
        id: string;
        status: ShipmentStatus;
        carrier: string | null;
        weightGrams: number | null;
        trackingNumber: string | null;
        scannedTrackingNumber: string | null;
        trackingUrl: string | null;
        createdAt: string;
        shippedAt: string | null;
        handoverReported: boolean;
        deliveredAt: string | null;
      }[]
    | null;
};

const toVersionedOrder = (row: OrderRow): VersionedOrder => ({
  order: toOrder(row),
  version: { writtenBy: row.written_by, updatedAt: row.updated_at.toISOString() },
});

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
    shipments: (row.shipments ?? []).map((shipment) => ({
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

/** The columns of an order that `toOrderState` reads. */
export type OrderStateRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  test_mode: boolean;
  status: OrderStatus;
  hold_reasons: string[];
  updated_at: Date;
  acceptance_due_at: Date | null;
  canceled_at: Date | null;
  last_sequence: number;
};

export const toOrderState = (row: OrderStateRow): OrderState => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  testMode: row.test_mode,
  status: row.status,
  holdReasons: row.hold_reasons,
  updatedAt: row.updated_at,
  acceptanceDueAt: row.acceptance_due_at,
  canceledAt: row.canceled_at,
  lastSequence: row.last_sequence,
});

/**
 * Locks orders of a kind, of each connection its share of the oldest. Skips orders that are locked. Parameters of the
 * statement: merchants and ids of the connections, the orders to lock alone (null: any), those to leave out, the share,
 * and the merchant or null.
 */
export async function lockOldestOrders(
  tx: Queryable,
  { connections, share, only, except }: OrderSelection,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<OrderKey[]> {
  const rows = await merchantByMerchant(tx, connections, (own, merchantId) =>
    tx.query<ConnectionKeyRow & { id: string }>({
      name,
      text,
      values: [...connectionColumns(own), only, except, share, merchantId],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.id }));
}

/**
 * Locks those of the orders that no other transaction has locked (docs/design/database.md, "Shared batches"). Returns them as
 * stored.
 */
export async function lockFreeOrders(tx: Queryable, keys: readonly OrderKey[]): Promise<OrderState[]> {
  const rows = await merchantByMerchant(tx, keys, (own, merchantId) =>
    tx.query<OrderStateRow>({
      name: "lock-free-orders",
      text: `
        select free.*
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
        cross join lateral (
          select o.merchant_id, o.connection_id, o.id, o.test_mode, o.status, o.hold_reasons, o.updated_at,
                 o.acceptance_due_at, o.canceled_at, o.last_sequence
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
            and ($4::uuid is null or o.merchant_id = $4)
          for no key update skip locked) as free`,
      values: [...connectionColumns(own), own.map(({ id }) => id), merchantId],
    }),
  );
  return rows.map(toOrderState);
}

/** Locks one order, after waiting if necessary. Returns it as stored. */
export async function lockOrderState(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<OrderState[]> {
  const rows = await tx.query<OrderStateRow>({
    name: "lock-order-state",
    text: `
      select o.merchant_id, o.connection_id, o.id, o.test_mode, o.status, o.hold_reasons, o.updated_at,
             o.acceptance_due_at, o.canceled_at, o.last_sequence
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $3
      for no key update`,
    values: [connection.merchantId, connection.connectionId, orderId],
  });
  return rows.map(toOrderState);
}
