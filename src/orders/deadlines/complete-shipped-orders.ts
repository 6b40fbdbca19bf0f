import { SERVICE, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { type OrderBatch, type OrderSelection, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { lockOldestOrders, readOrdersByKey } from "../orders-sql.ts";

const CAUSE: TransitionCause = { actor: SERVICE, operation: "complete" };

/** Orders completed in one transaction. */
const BATCH_SIZE = 50;

/** Completes all orders that are to be completed automatically. Returns how many orders it processed. */
export async function completeAllShippedOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(async () => inBatches(await listConnectionsWithShippedOrders(context.db), BATCH_SIZE)),
    (connections, failures) => completeShippedOrders(context, connections, failures),
    stopping,
  );
}

/**
 * Completes the next batch of orders of these connections, whose merchants want automatic completion. An order is complete if
 * every line has shipped, it is not on hold, and no charge or refund is left to attempt
 * (docs/design/lifecycle.md, "Automatic completion"). Skips orders that cannot be stored, and adds them to the run's failures.
 * Returns how many orders it processed.
 */
async function completeShippedOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch: OrderBatch<Order> = {
    connections,
    sizeMax: BATCH_SIZE,
    done: "completed",
    lock: async (tx, selection) => readOrdersByKey(tx, await lockShippedOrders(tx, selection)),
    process: (tx, orders, at) =>
      storeTransitions(
        tx,
        orders.flatMap((order) =>
          appliedTransitions(order, applyTransition(order, { name: "complete" }, at.now), CAUSE),
        ),
        at,
      ),
  };
  return processOrders(context, batch, failures);
}

/**
 * Connections with orders that can be completed automatically now: nothing is left to ship, and no charge or refund is due,
 * now or later. The form of these two conditions makes PostgreSQL check one order after the other: the planner turns
 * `not exists` into a join, and reads all lines of all orders for the few in progress. Uses orders_status_idx. A scan over
 * all shards.
 */
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
          where o.merchant_id = c.merchant_id and o.connection_id = c.id and ($1::uuid[] is null or o.merchant_id = any($1))
            and o.status = 'IN_PROGRESS' and not o.test_mode and o.hold_reasons = '{}'
            and (
              select true from order_lines l
              where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null
                and ($1::uuid[] is null or l.merchant_id = any($1))
              limit 1) is null
            and (
              select true from due_payments d
              where d.merchant_id = o.merchant_id and d.order_id = o.id and ($1::uuid[] is null or d.merchant_id = any($1))
              limit 1) is null
          limit 1) as done
        where m.complete_when_shipped and ($1::uuid[] is null or c.merchant_id = any($1))
          and ($1::uuid[] is null or m.id = any($1))`,
      values: [merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** Locks such orders, of each connection its share of the oldest. Skips orders that are locked. */
export const lockShippedOrders = (tx: Queryable, selection: OrderSelection): Promise<OrderKey[]> =>
  lockOldestOrders(tx, selection, {
    name: "lock-shipped-orders",
    text: `
      select found.merchant_id, found.connection_id, found.id
      from unnest($1::uuid[], $2::uuid[]) as listed (merchant_id, connection_id)
      cross join lateral (
        select o.merchant_id, o.connection_id, o.id
        from orders o
        where o.merchant_id = listed.merchant_id and o.connection_id = listed.connection_id
          and o.status = 'IN_PROGRESS' and not o.test_mode and o.hold_reasons = '{}'
          and (
            select true from order_lines l
            where l.merchant_id = o.merchant_id and l.order_id = o.id and l.shipment_id is null and l.cancellation_id is null
              and ($6::uuid is null or l.merchant_id = $6)
            limit 1) is null
          and (
            select true from due_payments d
            where d.merchant_id = o.merchant_id and d.order_id = o.id and ($6::uuid is null or d.merchant_id = $6)
            limit 1) is null
          and ($3::uuid[] is null or o.id = any($3)) and o.id <> all($4::uuid[])
          and ($6::uuid is null or o.merchant_id = $6)
        order by o.id
        limit $5
        for no key update skip locked) as found`,
  });
