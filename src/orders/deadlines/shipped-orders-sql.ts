import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { hasNoDuePayment } from "../../ledger/due-payments-sql.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { lockOldestOrders } from "../changes/lock-orders-sql.ts";
import type { OrderSelection } from "../changes/process-orders.ts";

/**
 * Nothing is left to do for the order `o`. The form of this condition makes PostgreSQL check one order after the other:
 * the planner turns `not exists` into a join, and reads all lines of all orders for the few in progress. Uses
 * orders_status_idx.
 * @param among the condition on the merchant of each table: see `amongMerchants` and `ofMerchant`
 */
const done = (
  among: (column: string) => string,
): string => `o.status = 'IN_PROGRESS' and not o.test_mode and o.hold_reasons = '{}'
          and (
            select true from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null
              and ${among("l.merchant_id")}
            limit 1) is null
          and ${hasNoDuePayment("o", among)}`;

/** Connections with orders that can be completed automatically now. A scan over all shards. */
export async function listConnectionsWithShippedOrders(db: Queryable): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-shipped-orders", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-shipped-orders",
      text: `
        select c.merchant_id, c.id as connection_id
        from connections c
        join merchants m on m.id = c.merchant_id
        cross join lateral (
          select o.id
          from orders o
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and ${amongMerchants("$1", "o.merchant_id")}
            and ${done((column) => amongMerchants("$1", column))}
          limit 1) as done
        where m.complete_when_shipped and ${amongMerchants("$1", "c.merchant_id")} and ${amongMerchants("$1", "m.id")}`,
      values: [merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** Locks such orders, of each connection its share of the oldest. Skips orders that are locked. */
export const lockShippedOrders = (tx: Queryable, selection: OrderSelection): Promise<OrderKey[]> =>
  lockOldestOrders(tx, selection, { name: "lock-shipped-orders", condition: done });
