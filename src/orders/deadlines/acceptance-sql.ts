import { amongMerchants } from "../../distribution/among-merchants.ts";
import { merchantByMerchant, ofMerchant } from "../../distribution/merchant-by-merchant.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import {
  type ConnectionKey,
  type ConnectionKeyRow,
  connectionColumns,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { ORDER_STATE, type OrderStateRow, toOrderState } from "../changes/lock-orders-sql.ts";
import type { OrderSelection } from "../changes/process-orders.ts";
import { acceptanceDue, selected } from "../conditions-sql.ts";

/** Connections with real orders past their deadline. The one that waits longest is first. A scan over all shards. */
export async function listConnectionsWithDueOrders(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-due-orders", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-due-orders",
      text: `
        select c.merchant_id, c.id as connection_id
        from connections c
        cross join lateral (
          select o.acceptance_due_at
          from orders o
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${amongMerchants("$2", "o.merchant_id")}
            and ${acceptanceDue("$1")}
          order by o.acceptance_due_at
          limit 1) as due
        where ${amongMerchants("$2", "c.merchant_id")}
        order by due.acceptance_due_at`,
      values: [now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

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
