import type { Queryable } from "../database/database.ts";
import type { Order, OrderStatus } from "./order.ts";

/** What work on many orders needs to know of each before it looks closer. */
export type OrderState = Pick<Order, "status" | "holdReasons" | "canceledAt">;

/**
 * Locks orders of one connection, waiting for whoever is at them, and tells how they stand in the table. Always in the
 * order of their ids, so that two who lock several never wait for each other in a circle.
 */
export async function lockOrderStates(
  tx: Queryable,
  connectionId: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, OrderState>> {
  const rows = await tx.query<{
    id: string;
    status: OrderStatus;
    hold_reasons: string[];
    canceled_at: Date | null;
  }>({
    name: "lock-order-states",
    text: `
      select id, status, hold_reasons, canceled_at
      from orders
      where connection_id = $1 and id = any($2::uuid[])
      order by id
      for no key update`,
    values: [connectionId, orderIds],
  });
  return new Map(
    rows.map((row) => [
      row.id,
      { status: row.status, holdReasons: row.hold_reasons, canceledAt: row.canceled_at },
    ]),
  );
}
