import type { Order } from "../../lifecycle/order.ts";
import { readOrdersByKey } from "../../orders/orders-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { WorkItem } from "./pick-list.ts";
import { listWorkLines, type WorkLine } from "./work-list-sql.ts";

/** An order as a person picks and packs it. */
export type Work = WorkItem & { readonly order: Order; readonly lines: readonly WorkLine[] };

/** The orders with their addresses and unshipped lines. An order that has shipped in the meantime is left out. */
export async function readWork(db: Queryable, items: readonly WorkItem[]): Promise<Work[]> {
  const [orders, lines] = await Promise.all([readOrdersByKey(db, items), listWorkLines(db, items)]);
  const orderOf = new Map(orders.map((order) => [order.id, order]));
  const linesOf = Map.groupBy(lines, ({ orderId }) => orderId);
  return items.flatMap((item) => {
    const order = orderOf.get(item.id);
    const unshipped = linesOf.get(item.id);
    return order === undefined || unshipped === undefined ? [] : [{ ...item, order, lines: unshipped }];
  });
}
