import type { OrderKey } from "../../lifecycle/order.ts";
import {
  type OrderBatch,
  type OrderFailure,
  type OrderSelection,
  processOrders,
} from "../../orders/changes/process-orders.ts";
import { lockUnroutedOrders, lockWaitingOrders } from "../../orders/routing/routing-sql.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { limitLockWaits } from "../../platform/database/transaction-settings.ts";
import { assignFacilities } from "./assign-facilities.ts";

/** Orders routed in one transaction, which locks the stock of all their products. */
export const ROUTED_TOGETHER_MAX = 100;

/**
 * Longest wait for the lock of a waiting order or of its stock, when a page of orders is routed together. A transaction
 * that keeps a lock longer must not delay the orders of all connections.
 */
const LOCK_WAIT_MS = 1_000;
/** The same for an order of a failed batch. It is shorter, because a hundred of them can wait for the same lock. */
const LOCK_WAIT_AGAIN_MS = 100;

/**
 * Routes the next batch of accepted orders of these connections; returns how many it evaluated. Orders that cannot be
 * stored are skipped and added to the run's failures.
 */
export async function routeDueOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch = batchOf(connections, (tx, selection) => lockUnroutedOrders(tx, selection));
  return processOrders(context, batch, failures);
}

/**
 * Routes orders that wait for stock or for a rate, if that is possible now. Orders that wait no longer are left as they
 * are; orders that cannot be stored are skipped. Returns the failures.
 */
export async function routeWaitingOrders(
  context: Context,
  orders: readonly OrderKey[],
): Promise<OrderFailure[]> {
  if (orders.length === 0) return [];
  const byId = new Map(orders.map((order) => [order.id, order]));
  const batch = batchOf(distinctConnections(orders), (tx, { only }) =>
    lockWaitingOrders(
      tx,
      (only ?? []).flatMap((id) => byId.get(id) ?? []),
    ),
  );
  const failures: OrderFailure[] = [];
  await processOrders(context, batch, failures, orders);
  return failures;
}

const batchOf = (
  connections: readonly ConnectionKey[],
  lock: (tx: Queryable, selection: OrderSelection) => Promise<OrderKey[]>,
): OrderBatch<OrderKey> => ({
  connections,
  sizeMax: ROUTED_TOGETHER_MAX,
  done: "routed",
  async lock(tx, selection, again) {
    await limitLockWaits(tx, again ? LOCK_WAIT_AGAIN_MS : LOCK_WAIT_MS);
    return lock(tx, selection);
  },
  process: (tx, orders, at) => assignFacilities(tx, orders, at),
});
