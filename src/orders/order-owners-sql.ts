import type { OrderScope } from "../access/scope.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { PagePosition } from "../platform/wire/cursor.ts";

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

/** Who may see an order, by the service's id. Null if there is none, or if it has expired. A scan over all shards. */
export async function findOrderOwner(db: Queryable, orderId: string, now: Date): Promise<PlacedOrder | null> {
  const [row] = await db.query<PlacedOrderRow>({
    name: "find-order-owner",
    text: `
      select found.id, found.test_mode, found.facility_id, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from merchants m
      cross join lateral (
        select o.id, o.connection_id, o.test_mode, o.facility_id
        from orders o
        where o.merchant_id = m.id and o.id = $1 and (not o.test_mode or o.expires_at > $2)
        offset 0) as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`,
    values: [orderId, now],
  });
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
  /** What the caller may see. */
  readonly scope: OrderScope;
  readonly connectionId: string | null;
};

/**
 * The orders with the partner's own id, newest first: at most one of each connection, because connections choose their ids
 * without each other. One row more than the page if there is one. Expired test orders are left out. A look-up by
 * orders_external_order_id_key for each merchant.
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
        from orders o
        where o.merchant_id = m.id and o.external_order_id = $1 and ($3::uuid is null or o.connection_id = $3)
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

/** Who may see an order, by the id of a shipment. */
export async function findOrderOfShipment(db: Queryable, shipmentId: string): Promise<PlacedOrder | null> {
  const [row] = await db.query<PlacedOrderRow>({
    name: "find-order-of-shipment",
    text: `
      select s.order_id as id, o.test_mode, o.facility_id, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from shipments s
      join orders o on o.merchant_id = s.merchant_id and o.id = s.order_id
      join connections c on c.merchant_id = s.merchant_id and c.id = o.connection_id
      join merchants m on m.id = s.merchant_id
      where s.id = $1`,
    values: [shipmentId],
  });
  return row === undefined ? null : toPlacedOrder(row);
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
 * Real orders with a text on a label: the partner's own id, the tracking number of a shipment, or the reference of a
 * return. Newest first. A look-up by index for each kind, of the partner's ids for each merchant.
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
          select o.id from orders o where o.merchant_id = m.id and o.external_order_id = $1 offset 0) as named
        union all
        select s.merchant_id, s.order_id, 'trackingNumber'
        from shipments s
        where lower(s.tracking_number) = lower($1)
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
      order by o.id desc
      limit $2`,
    values: [text, limit],
  });
  return rows.map((row) => ({ ...toPlacedOrder(row), matchedBy: row.matched_by }));
}
