import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import { type ConnectionKey, connectionColumns } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ORDER_STATE, type OrderStateRow, toOrderState } from "../changes/lock-orders-sql.ts";
import type { OrderSelection } from "../changes/process-orders.ts";
import { acceptanceDue, selected } from "../conditions-sql.ts";
import { listConnectionsWithOrders } from "../connections-with-orders-sql.ts";

/** Connections with real orders past their deadline. */
export const listConnectionsWithDueOrders = (db: Queryable, now: Date): Promise<ConnectionKey[]> =>
  listConnectionsWithOrders(db, {
    name: "list-connections-with-due-orders",
    condition: acceptanceDue("$2"),
    values: [now],
    oldestBy: "acceptance_due_at",
  });

/**
 * Locks due orders, of each connection its share of those due longest. Skips orders that are locked. Uses
 * orders_acceptance_due_idx.
 */
export async function lockDueOrders(
  tx: Queryable,
  { connections, share, only, except }: OrderSelection,
  now: Date,
): Promise<OrderState[]> {
  const rows = await merchantByMerchant(tx, connections, (own, merchantId) =>
    tx.query<OrderStateRow>({
      name: "lock-due-orders",
      text: `
        select due.*
        from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
        cross join lateral (
          select ${ORDER_STATE}
          from orders o
          where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id and ${acceptanceDue("$3")}
            and ${selected("$4", "$5")} and ${ofMerchant("$7", "o.merchant_id")}
          order by o.acceptance_due_at
          limit $6
          for no key update skip locked) as due`,
      values: [...connectionColumns(own), now, only, except, share, merchantId],
    }),
  );
  return rows.map(toOrderState);
}
