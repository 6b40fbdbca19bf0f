import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";

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
