import type { Order } from "../../lifecycle/order.ts";
import { readOrdersByKey } from "../../orders/orders-sql.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { WorkItem } from "./pick-list.ts";
import { listWorkLines, listWorkNames, type WorkLine, type WorkNames } from "./work-list-sql.ts";

/** An order as a person picks and packs it. */
export type Work = WorkItem & WorkNames & { readonly order: Order; readonly lines: readonly WorkLine[] };

/** The orders with their addresses and unshipped lines. An order that has shipped in the meantime is left out. */
export async function readWork(db: Queryable, items: readonly WorkItem[]): Promise<Work[]> {
  const [orders, lines, names] = await Promise.all([
    readOrdersByKey(db, items),
    listWorkLines(db, items),
    listWorkNames(db, items),
  ]);
  const orderOf = new Map(orders.map((order) => [order.id, order]));
  const linesOf = Map.groupBy(lines, ({ orderId }) => orderId);
  return items.flatMap((item) => {
    const order = orderOf.get(item.id);
    const unshipped = linesOf.get(item.id);
    const named = names.get(item.connectionId);
    if (order === undefined || unshipped === undefined || named === undefined) return [];
    return [{ ...item, ...named, order, lines: unshipped }];
  });
}
