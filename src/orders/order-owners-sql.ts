import type { Queryable } from "../platform/database/database.ts";

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

/** The connection and merchant of an order, by the service's id. Null if there is none. A scan over all shards. */
export async function findOrderOwner(
  db: Queryable,
  orderId: string,
): Promise<(OrderOwner & { readonly id: string; readonly testMode: boolean }) | null> {
  const [row] = await db.query<OrderOwnerRow & { test_mode: boolean }>({
    name: "find-order-owner",
    text: `
      select found.id, found.test_mode, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from merchants m
      cross join lateral (
        select o.id, o.connection_id, o.test_mode from orders o where o.merchant_id = m.id and o.id = $1 offset 0) as found
      join connections c on c.merchant_id = m.id and c.id = found.connection_id`,
    values: [orderId],
  });
  return row === undefined ? null : { ...toOrderOwner(row), testMode: row.test_mode };
}

/** The same by the id of a shipment. */
export async function findOrderOfShipment(
  db: Queryable,
  shipmentId: string,
): Promise<(OrderOwner & { readonly id: string }) | null> {
  const [row] = await db.query<OrderOwnerRow>({
    name: "find-order-of-shipment",
    text: `
      select s.order_id as id, c.id as connection_id, c.name as connection_name,
             m.id as merchant_id, m.name as merchant_name
      from shipments s
      join orders o on o.merchant_id = s.merchant_id and o.id = s.order_id
      join connections c on c.merchant_id = s.merchant_id and c.id = o.connection_id
      join merchants m on m.id = s.merchant_id
      where s.id = $1`,
    values: [shipmentId],
  });
  return row === undefined ? null : toOrderOwner(row);
}

export const toOrderOwner = (row: OrderOwnerRow): OrderOwner & { readonly id: string } => ({
  id: row.id,
  connectionId: row.connection_id,
  connectionName: row.connection_name,
  merchantId: row.merchant_id,
  merchantName: row.merchant_name,
});
