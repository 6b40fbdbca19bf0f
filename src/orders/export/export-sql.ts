import type { Queryable } from "../../platform/database/database.ts";

/** What the order's own line does not tell. */
export type ExportLine = {
  readonly orderId: string;
  readonly id: string;
  readonly sku: string;
  readonly unitPriceMinor: bigint;
  readonly currency: string;
};

/** Ids of a connection's orders between two others, oldest first; those of test orders are among them. */
export async function listOrderIds(
  db: Queryable,
  connectionId: string,
  afterId: string,
  beforeId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-order-ids",
    text: `
      select id
      from orders
      where connection_id = $1 and id > $2 and id < $3
      order by id
      limit $4`,
    values: [connectionId, afterId, beforeId, limit],
  });
  return rows.map(({ id }) => id);
}

/** Lines of these orders, in the order in which they were placed, with their product's SKU as it is now. */
export async function listExportedLines(
  db: Queryable,
  connectionId: string,
  orderIds: readonly string[],
): Promise<ExportLine[]> {
  return db.query<ExportLine>({
    name: "list-exported-lines",
    text: `
      select l.order_id as "orderId", l.id, p.sku, l.unit_price_minor as "unitPriceMinor", o.currency
      from order_lines l
      join orders o on o.connection_id = $1 and o.id = l.order_id
      join products p on p.id = l.product_id
      where l.connection_id = $1 and l.order_id = any($2::uuid[])
      order by l.order_id, l.id`,
    values: [connectionId, orderIds],
  });
}
