import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { OrderKey, OrderState, OrderStatus } from "../../lifecycle/order.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { selected } from "../conditions-sql.ts";
import type { OrderSelection } from "./process-orders.ts";

/** The columns of the order `o` that `toOrderState` reads. */
export const ORDER_STATE = `o.merchant_id, o.connection_id, o.id, o.test_mode, o.status, o.hold_reasons, o.updated_at,
             o.acceptance_due_at, o.canceled_at, o.last_sequence`;

export type OrderStateRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  test_mode: boolean;
  status: OrderStatus;
  hold_reasons: string[];
  updated_at: Date;
  acceptance_due_at: Date | null;
  canceled_at: Date | null;
  last_sequence: number;
};

export const toOrderState = (row: OrderStateRow): OrderState => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  testMode: row.test_mode,
  status: row.status,
  holdReasons: row.hold_reasons,
  updatedAt: row.updated_at,
  acceptanceDueAt: row.acceptance_due_at,
  canceledAt: row.canceled_at,
  lastSequence: row.last_sequence,
});

/**
 * Locks orders `o` that meet a condition, of each connection its share of the oldest. Skips orders that are locked.
 * @param name of the statement
 * @param condition that of a partial index. It receives the condition on the merchant of further tables
 */
export async function lockOldestOrders(
  tx: Queryable,
  { connections, share, only, except }: OrderSelection,
  {
    name,
    condition,
  }: { readonly name: string; readonly condition: (of: (column: string) => string) => string },
): Promise<OrderKey[]> {
  const rows = await merchantByMerchant(tx, connections, (own, merchantId) =>
    tx.query<ConnectionKeyRow & { id: string }>({
      name,
      text: `
        select found.merchant_id, found.connection_id, found.id
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
        cross join lateral (
          select o.merchant_id, o.connection_id, o.id
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and ${condition(
            (column) => ofMerchant("$6", column),
          )}
            and ${selected("$3", "$4")} and ${ofMerchant("$6", "o.merchant_id")}
          order by o.id
          limit $5
          for no key update skip locked) as found`,
      values: [...connectionColumns(own), only, except, share, merchantId],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.id }));
}

/** Locks those of the orders that no other transaction has locked (decision 0068). Returns them as stored. */
export async function lockFreeOrders(tx: Queryable, keys: readonly OrderKey[]): Promise<OrderState[]> {
  const rows = await merchantByMerchant(tx, keys, (own, merchantId) =>
    tx.query<OrderStateRow>({
      name: "lock-free-orders",
      text: `
        select free.*
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as listed (merchant_id, connection_id, id)
        cross join lateral (
          select ${ORDER_STATE}
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and o.id = listed.id
            and ${ofMerchant("$4", "o.merchant_id")}
          for no key update skip locked) as free`,
      values: [...connectionColumns(own), own.map(({ id }) => id), merchantId],
    }),
  );
  return rows.map(toOrderState);
}

/** Locks one order, after waiting if necessary. Returns it as stored. */
export async function lockOrderState(
  tx: Queryable,
  connection: ConnectionKey,
  orderId: string,
): Promise<OrderState[]> {
  const rows = await tx.query<OrderStateRow>({
    name: "lock-order-state",
    text: `
      select ${ORDER_STATE}
      from orders o
      where o.merchant_id = $1 and o.connection_id = $2 and o.id = $3
      for no key update`,
    values: [connection.merchantId, connection.connectionId, orderId],
  });
  return rows.map(toOrderState);
}
