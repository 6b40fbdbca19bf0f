import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** What work on many orders needs to know of each before it looks closer. */
export type OrderState = Pick<Order, "status" | "holdReasons" | "canceledAt">;

type StateRow = { id: string; status: OrderStatus; hold_reasons: string[]; canceled_at: Date | null };

/** Locks those of a connection's orders that no other transaction has locked; returns how they stand in the table. */
export async function lockFreeOrders(
  tx: Queryable,
  connectionId: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, OrderState>> {
  const rows = await tx.query<StateRow>({
    name: "lock-free-orders",
    text: `
      select o.id, o.status, o.hold_reasons, o.canceled_at
      from orders o
      where o.connection_id = $1 and o.id = any($2::uuid[])
      order by o.id
      for no key update skip locked`,
    values: [connectionId, orderIds],
  });
  return toStates(rows);
}

/** Locks one order, and waits until it can; returns how it stands in the table. */
export async function lockOrderState(
  tx: Queryable,
  connectionId: string,
  orderId: string,
): Promise<ReadonlyMap<string, OrderState>> {
  const rows = await tx.query<StateRow>({
    name: "lock-order-state",
    text: `
      select id, status, hold_reasons, canceled_at
      from orders
      where connection_id = $1 and id = $2
      for no key update`,
    values: [connectionId, orderId],
  });
  return toStates(rows);
}

const toStates = (rows: readonly StateRow[]): ReadonlyMap<string, OrderState> =>
  new Map(
    rows.map((row) => [
      row.id,
      { status: row.status, holdReasons: row.hold_reasons, canceledAt: row.canceled_at },
    ]),
  );
