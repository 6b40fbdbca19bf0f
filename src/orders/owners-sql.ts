import type { OrderParties, OrderScope } from "../audit/grant.ts";
import type { OrderKey } from "../lifecycle/order.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../platform/connection-key.ts";
import { findReachable, merchantByMerchant, searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";
import { possibleTrackingNumbers } from "./changes/tracking-number.ts";

/** The connection and the merchant that an order belongs to. */
export type OrderOwner = {
  readonly connectionId: string;
  readonly connectionName: string;
  readonly merchantId: string;
  readonly merchantName: string;
};

export type OrderOwnerRow = {
  id: string;
  connection_id: string;
  connection_name: string;
  merchant_id: string;
  merchant_name: string;
};

/** An order and who may see it: its merchant, its connection, and the facility that it is routed to, if any. */
export type PlacedOrder = OrderOwner & {
  readonly id: string;
  readonly testMode: boolean;
  readonly facilityId: string | null;
};

type PlacedOrderRow = OrderOwnerRow & { test_mode: boolean; facility_id: string | null };

/**
 * Who may see an order, by the service's id. Null if there is none, or if it has expired. By order_requests_newest_idx; a scan
 * over all shards.
 */
export async function findOrderOwner(db: Queryable, orderId: string, now: Date): Promise<PlacedOrder | null> {
  const row = await findReachable(db, (merchants) =>
    db.query<PlacedOrderRow>({
      name: "find-order-owner",
      text: `
        select o.id, o.test_mode, o.facility_id, c.id as connection_id, c.name as connection_name,
               m.id as merchant_id, m.name as merchant_name
        from order_requests r
        join orders o on o.merchant_id = r.merchant_id and o.id = r.order_id
        join connections c on c.merchant_id = r.merchant_id and c.id = o.connection_id
        join merchants m on m.id = r.merchant_id
        where r.order_id = $1 and (not o.test_mode or o.expires_at > $2)
          and ($3::uuid[] is null or r.merchant_id = any($3)) and ($3::uuid[] is null or o.merchant_id = any($3))
          and ($3::uuid[] is null or c.merchant_id = any($3)) and ($3::uuid[] is null or m.id = any($3))`,
      values: [orderId, now, merchants],
    }),
  );
  return row === undefined ? null : toPlacedOrder(row);
}

/** An order that has the partner's own id, with its owner. */
export type OrderReference = OrderOwner & {
  readonly id: string;
  readonly externalOrderId: string;
  readonly testMode: boolean;
  readonly createdAt: Date;
};

/** Which orders are found by the partner's own id. A null restricts nothing. */
type ReferenceFilter = {
  readonly externalOrderId: string;
  /** The scope of the caller. */
  readonly scope: OrderScope;
  readonly connectionId: string | null;
};

/**
 * The orders with the partner's own id, newest first: at most one of each connection, because connections choose their ids
 * without each other. One row more than the page if there is one. Expired test orders are left out. A look-up by
 * order_requests_external_order_id_key for each merchant.
 */
export async function findOrdersByExternalId(
  db: Queryable,
  { externalOrderId, scope, connectionId }: ReferenceFilter,
  { afterId, limit }: PagePosition,
  now: Date,
): Promise<OrderReference[]> {
  const rows = await db.query<OrderOwnerRow & { test_mode: boolean; created_at: Date }>({
    name: "find-orders-by-external-id",
    text: `
      select found.id, found.test_mode, found.created_at, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from merchants m
      cross join lateral (
        select o.id, o.connection_id, o.test_mode, o.created_at
        from order_requests r
        join orders o on o.merchant_id = r.merchant_id and o.id = r.order_id
        where r.merchant_id = m.id and r.external_order_id = $1 and ($3::uuid is null or o.connection_id = $3)
          and o.id < $4 and (not o.test_mode or o.expires_at > $5)
          and ($2 or o.merchant_id = any($7::uuid[]) or o.connection_id = any($8::uuid[])
            or o.facility_id = any($9::uuid[]))
        offset 0) as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id
      order by found.id desc
      limit $6 + 1`,
    values: [
      externalOrderId,
      scope === null,
      connectionId,
      afterId,
      now,
      limit,
      scope?.merchantIds,
      scope?.connections.map((key) => key.connectionId),
      scope?.facilityIds,
    ],
  });
  return rows.map((row) => ({
    ...toOrderOwner(row),
    externalOrderId,
    testMode: row.test_mode,
    createdAt: row.created_at,
  }));
}

/** Those of the texts that a real order of the merchant has as the partner's own id, as they are, in capitals or in small letters. */
export async function listExternalOrderIds(
  db: Queryable,
  merchantId: string,
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  const written = texts.flatMap((text) =>
    [text, text.toUpperCase(), text.toLowerCase()].map((form) => ({ text, form })),
  );
  const rows = await db.query<{ text: string }>({
    name: "list-external-order-ids",
    text: `
      select listed.text
      from unnest($2::text[], $3::text[]) as listed (text, form)
      cross join lateral (
        select
        from order_requests o
        where o.merchant_id = $1 and o.external_order_id = listed.form and not o.test_mode
        limit 1) as found`,
    values: [merchantId, written.map(({ text }) => text), written.map(({ form }) => form)],
  });
  return new Set(rows.map(({ text }) => text));
}

/** Who may see an order, by the id of a shipment. */
export async function findOrderOfShipment(db: Queryable, shipmentId: string): Promise<PlacedOrder | null> {
  const row = await findReachable(db, (merchants) =>
    db.query<PlacedOrderRow>({
      name: "find-order-of-shipment",
      text: `
        select s.order_id as id, o.test_mode, o.facility_id, c.id as connection_id, c.name as connection_name,
               m.id as merchant_id, m.name as merchant_name
        from shipments s
        join orders o on o.merchant_id = s.merchant_id and o.id = s.order_id
        join connections c on c.merchant_id = s.merchant_id and c.id = o.connection_id
        join merchants m on m.id = s.merchant_id
        where s.id = $1
          and ($2::uuid[] is null or s.merchant_id = any($2)) and ($2::uuid[] is null or o.merchant_id = any($2))
          and ($2::uuid[] is null or c.merchant_id = any($2)) and ($2::uuid[] is null or m.id = any($2))`,
      values: [shipmentId, merchants],
    }),
  );
  return row === undefined ? null : toPlacedOrder(row);
}

/** A shipment that is on its way, or waits for the courier, with the order that has it. */
export type OpenParcel = OrderParties & {
  readonly orderId: string;
  /** Null: a dry run would create it. */
  readonly shipmentId: string | null;
  /** As `comparableNumber` writes it. */
  readonly trackingNumber: string;
};

/** Parcels of one number that are read: to ask about it, one is enough that the caller sees. */
const PARCELS_MAX = 100;

/** The open parcels with one of these numbers, the newest first, written as by `comparableNumber`. By shipments_tracking_idx. */
export function findOpenParcels(db: Queryable, numbers: readonly string[]): Promise<OpenParcel[]> {
  return searchReachable(db, "find-open-parcels", (merchants) =>
    db.query<OpenParcel>({
      name: "find-open-parcels",
      text: `
        select s.merchant_id as "merchantId", o.connection_id as "connectionId", o.facility_id as "facilityId",
               s.order_id as "orderId", s.id as "shipmentId",
               lower(translate(s.tracking_number, ' -', '')) as "trackingNumber"
        from shipments s
        join orders o on o.merchant_id = s.merchant_id and o.id = s.order_id
        where lower(translate(s.tracking_number, ' -', '')) = any($1::text[]) and s.status in ('pending', 'shipped') and not o.test_mode
          and ($2::uuid[] is null or s.merchant_id = any($2)) and ($2::uuid[] is null or o.merchant_id = any($2))
        order by s.id desc
        limit $3`,
      values: [numbers, merchants, PARCELS_MAX],
    }),
  );
}

const toPlacedOrder = (row: PlacedOrderRow): PlacedOrder => ({
  ...toOrderOwner(row),
  testMode: row.test_mode,
  facilityId: row.facility_id,
});

export const toOrderOwner = (row: OrderOwnerRow): OrderOwner & { readonly id: string } => ({
  id: row.id,
  connectionId: row.connection_id,
  connectionName: row.connection_name,
  merchantId: row.merchant_id,
  merchantName: row.merchant_name,
});

/** What of an order a code names. */
export const ORDER_CODES = [
  "orderId",
  "shipmentId",
  "externalOrderId",
  "trackingNumber",
  "returnReference",
] as const;
export type OrderCode = (typeof ORDER_CODES)[number];

/**
 * Real orders with a text on a label: the partner's own id, the tracking number of a shipment (also as its label says it), or the reference of a
 * return. The partners' ids last, each kind newest first. A look-up by index for each kind, of the partner's ids for each merchant.
 */
export async function findOrdersByLabel(
  db: Queryable,
  text: string,
  limit: number,
): Promise<(PlacedOrder & { readonly matchedBy: OrderCode })[]> {
  const rows = await db.query<PlacedOrderRow & { matched_by: OrderCode }>({
    name: "find-orders-by-label",
    text: `
      with found as (
        select m.id as merchant_id, named.id, 'externalOrderId' as matched_by
        from merchants m
        cross join lateral (
          select r.order_id as id from order_requests r where r.merchant_id = m.id and r.external_order_id = $1 offset 0) as named
        union all
        select s.merchant_id, s.order_id, 'trackingNumber'
        from shipments s
        where lower(translate(s.tracking_number, ' -', '')) = any($3::text[])
        union all
        select r.merchant_id, r.order_id, 'returnReference'
        from order_returns r
        where r.reference = $1
      )
      select o.id, o.test_mode, o.facility_id, f.matched_by, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from found f
      cross join lateral (
        select named.id, named.connection_id, named.test_mode, named.facility_id
        from orders named
        where named.merchant_id = f.merchant_id and named.id = f.id
        offset 0) as o
      join connections c on c.merchant_id = f.merchant_id and c.id = o.connection_id
      join merchants m on m.id = f.merchant_id
      where not o.test_mode
      -- Partners choose their ids, so they must not push what the warehouse has written on a parcel off the end.
      order by f.matched_by = 'externalOrderId', o.id desc
      limit $2`,
    values: [text, limit, possibleTrackingNumbers(text)],
  });
  return rows.map((row) => ({ ...toPlacedOrder(row), matchedBy: row.matched_by }));
}

/** A statement that finds connections by their oldest order of a kind. $1 is null, or the merchants to search. */
type DueOrders = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };

/** Connections that have orders of this kind. The one that waits longest is first. A scan over all shards. */
export async function listConnectionsWithOrders(
  db: Queryable,
  { name, text, values }: DueOrders,
): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, name, (merchants) =>
    db.query<ConnectionKeyRow>({ name, text, values: [merchants, ...values] }),
  );
  return rows.map(toConnectionKey);
}

/** The facilities that these orders are routed to, by the ids of the orders. Orders that are routed nowhere are left out. */
export async function readFacilitiesOfOrders(
  db: Queryable,
  orders: readonly Pick<OrderKey, "merchantId" | "id">[],
): Promise<ReadonlyMap<string, string>> {
  if (orders.length === 0) return new Map();
  const rows = await db.query<{ id: string; facility_id: string }>({
    name: "read-facilities-of-orders",
    text: `
      select o.id, o.facility_id
      from unnest($1::uuid[], $2::uuid[]) as k (merchant_id, id)
      join orders o on o.merchant_id = k.merchant_id and o.id = k.id
      where o.facility_id is not null`,
    values: [orders.map(({ merchantId }) => merchantId), orders.map(({ id }) => id)],
  });
  return new Map(rows.map((row) => [row.id, row.facility_id]));
}

/** The partners' own ids of these orders, by the ids of the service. Orders without one are left out. */
export async function readExternalIds(
  db: Queryable,
  orders: readonly Pick<OrderKey, "merchantId" | "id">[],
): Promise<ReadonlyMap<string, string>> {
  if (orders.length === 0) return new Map();
  const rows = await merchantByMerchant(db, orders, (own, merchantId) =>
    db.query<{ id: string; external_order_id: string }>({
      name: "read-external-ids",
      text: `
        select o.order_id as id, o.external_order_id
        from unnest($1::uuid[], $2::uuid[]) as k (merchant_id, id)
        join order_requests o on o.merchant_id = k.merchant_id and o.order_id = k.id
        where o.external_order_id is not null and ($3::uuid is null or o.merchant_id = $3)`,
      values: [own.map((order) => order.merchantId), own.map(({ id }) => id), merchantId],
    }),
  );
  return new Map(rows.map((row) => [row.id, row.external_order_id]));
}

/** What the merchant is charged for an order and for each of its lines, with the products of the lines. */
export type OrderPrices = {
  readonly goodsMinor: bigint;
  readonly currency: string;
  readonly lines: ReadonlyMap<
    string,
    { readonly sku: string; readonly name: string; readonly unitPriceMinor: bigint }
  >;
};

export async function readOrderPrices(
  db: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<OrderPrices> {
  const rows = await db.query<{
    goods_minor: bigint;
    currency: string;
    line_id: string;
    unit_price_minor: bigint;
    sku: string;
    name: string;
  }>({
    name: "read-order-prices",
    text: `
      select o.goods_minor, o.currency, l.id as line_id, l.unit_price_minor, p.sku, p.name
      from orders o
      join order_lines l on l.merchant_id = o.merchant_id and l.order_id = o.id
      join products p on p.merchant_id = $1 and p.id = l.product_id
      where o.merchant_id = $1 and o.connection_id = $2 and l.merchant_id = $1 and o.id = $3`,
    values: [connection.merchantId, connection.connectionId, orderId],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("An order has at least one line.");
  return {
    goodsMinor: first.goods_minor,
    currency: first.currency,
    lines: new Map(
      rows.map((row) => [
        row.line_id,
        { sku: row.sku, name: row.name, unitPriceMinor: row.unit_price_minor },
      ]),
    ),
  };
}
