import { splitsBetween } from "../../lifecycle/lines.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/**
 * Stores the splits of lines between two states of orders. The caller has locked the orders and read them under the
 * lock. A new line has the product and the price of the line of the request.
 */
export async function storeSplits(
  tx: Queryable,
  changes: readonly { readonly before: Order; readonly after: Order }[],
): Promise<void> {
  const splits = changes.flatMap(({ before, after }) =>
    splitsBetween(before, after).map((split) => ({
      ...split,
      merchantId: after.merchantId,
      orderId: after.id,
    })),
  );
  if (splits.length === 0) return;
  const keys = [splits.map(({ merchantId }) => merchantId), splits.map(({ orderId }) => orderId)];
  await tx.query({
    name: "reduce-lines",
    text: `
      update order_lines l
      set quantity = split.quantity
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[]) as split (merchant_id, order_id, id, quantity)
      where l.merchant_id = split.merchant_id and l.order_id = split.order_id and l.id = split.id
        and l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[]) and l.shipment_id is null`,
    values: [...keys, splits.map(({ line }) => line.id), splits.map(({ line }) => line.quantity)],
  });
  await tx.query({
    name: "insert-split-lines",
    text: `
      insert into order_lines (
        merchant_id, connection_id, order_id, id, product_id, quantity, unit_price_minor, split_from)
      select l.merchant_id, l.connection_id, l.order_id, split.id, l.product_id, split.quantity, l.unit_price_minor, l.id
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::integer[], $5::uuid[])
        as split (merchant_id, order_id, id, quantity, split_from)
      join order_lines l
        on l.merchant_id = split.merchant_id and l.order_id = split.order_id and l.id = split.split_from
      where l.merchant_id = any($1::uuid[]) and l.order_id = any($2::uuid[])`,
    values: [
      ...keys,
      splits.map(({ rest }) => rest.id),
      splits.map(({ rest }) => rest.quantity),
      splits.map(({ rest }) => rest.splitFrom),
    ],
  });
}
