import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import { readOrders } from "../orders-sql.ts";
import { listTestOrderIds } from "./list-test-orders-sql.ts";

/** A page of a connection's test orders that have not expired, newest first. A null does not filter. */
export async function listTestOrders(
  { db, clock }: Context,
  connection: ConnectionKey,
  filter: { readonly status: OrderStatus | null; readonly onHold: boolean | null },
  position: PagePosition,
): Promise<{ orders: Order[]; nextCursor: string | null }> {
  const ids = await listTestOrderIds(db, connection, filter, position, clock.now());
  const read = await readOrders(db, connection, ids.slice(0, position.limit));
  const orders = new Map(read.map((order) => [order.id, order]));
  // The cursor is made from the ids: one of the orders may have been erased since.
  const page = toPage(
    ids.map((id) => ({ id })),
    position,
    ({ id }) => orders.get(id),
  );
  return { orders: page.data.filter((order) => order !== undefined), nextCursor: page.nextCursor };
}
