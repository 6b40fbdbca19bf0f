import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** The SKU and price of an order line, which `OrderLine` does not contain. */
export type ExportLine = {
  readonly orderId: string;
  readonly id: string;
  readonly sku: string;
  readonly unitPriceMinor: bigint;
  readonly currency: string;
};

/** Ids of a connection's orders between two ids, oldest first, test orders included. */
export async function listOrderIds(
  db: Queryable,
  connection: ConnectionKey,
  afterId: string,
  beforeId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-order-ids",
    text: `
      select id
      from orders
      where merchant_id = $1 and connection_id = $2 and id > $3 and id < $4
      order by id
      limit $5`,
    values: [connection.merchantId, connection.connectionId, afterId, beforeId, limit],
  });
  return rows.map(({ id }) => id);
}

/** Lines of these orders, in the order of the requests. The SKU is the product's present one. */
export async function listExportedLines(
  db: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<ExportLine[]> {
  return db.query<ExportLine>({
    name: "list-exported-lines",
    text: `
      select l.order_id as "orderId", l.id, p.sku, l.unit_price_minor as "unitPriceMinor", o.currency
      from order_lines l
      join orders o on o.merchant_id = $1 and o.id = l.order_id
      join products p on p.merchant_id = $1 and p.id = l.product_id
      where l.merchant_id = $1 and l.connection_id = $2 and l.order_id = any($3::uuid[])
      order by l.order_id, l.id`,
    values: [connection.merchantId, connection.connectionId, orderIds],
  });
}
