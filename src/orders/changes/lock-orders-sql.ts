import type { Order, OrderStatus } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** What work on many orders needs to know of each before it looks closer. */
export type OrderState = Pick<Order, "status" | "holdReasons" | "canceledAt">;

type StateRow = { id: string; status: OrderStatus; hold_reasons: string[]; canceled_at: Date | null };

/**
 * Locks those of a connection's orders that can be locked without breaking the feed, and tells how they stand in the
 * table. To be the transaction's first statement: PostgreSQL gives the transaction its id at the first lock, and the feed
 * sorts by that id (decision 0027). So an order is passed over while somebody is at it, since that step would commit
 * with a later id than ours and an earlier sequence, and also when such a step has committed since the statement began.
 */
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
        -- A row newer than the statement is checked again as it is locked: its new number against the one seen before.
        and o.last_sequence = (
          select seen.last_sequence
          from orders seen
          where seen.connection_id = $1 and seen.id = o.id)
      order by o.id
      for no key update of o skip locked`,
    values: [connectionId, orderIds],
  });
  return toStates(rows);
}

/**
 * Locks one order, waiting for whoever is at it, and tells how it stands in the table. As a transaction's first lock it
 * leaves the transaction without an id for as long as it waits.
 */
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
