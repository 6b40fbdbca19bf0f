import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** What work on many orders needs to know of each before it looks closer. */
export type OrderState = Pick<Order, "status" | "holdReasons" | "canceledAt">;

type StateRow = { id: string; status: OrderStatus; hold_reasons: string[]; canceled_at: Date | null };

/** Locks those of a connection's orders that no other transaction has locked; returns them as stored. */
export async function lockFreeOrders(
  tx: Queryable,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, OrderState>> {
  const rows = await tx.query<StateRow>({
    name: "lock-free-orders",
    text: `
      select o.id, o.status, o.hold_reasons, o.canceled_at
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = any($3::uuid[])
      order by o.id
      for no key update skip locked`,
    values: [connection.merchantId, connection.connectionId, orderIds],
  });
  return toStates(rows);
}

/** Locks one order, waiting if necessary; returns it as stored. */
export async function lockOrderState(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<ReadonlyMap<string, OrderState>> {
  const rows = await tx.query<StateRow>({
    name: "lock-order-state",
    text: `
      select id, status, hold_reasons, canceled_at
      from orders
      where merchant_id = $1 and connection_id = $2 and id = $3
      for no key update`,
    values: [connection.merchantId, connection.connectionId, orderId],
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
