import type { OrderKey } from "../../lifecycle/order.ts";
import { type OrderBatch, processOrders } from "../../orders/changes/process-orders.ts";
import { limitLockWaits, lockUnroutedOrders, lockWaitingOrders } from "../../orders/routing/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { assignFacilities } from "./assign-facilities.ts";

/** Orders routed in one transaction, which locks the stock of all their products. */
const BATCH_SIZE = 100;

/**
 * Longest wait for the lock of a waiting order or of its stock, when a page of orders is routed together. A transaction
 * that keeps a lock longer must not delay the orders of all connections.
 */
const LOCK_WAIT_MS = 1_000;
/** The same for an order of a failed batch. It is shorter, because a hundred of them can wait for the same lock. */
const LOCK_WAIT_AGAIN_MS = 100;

/**
 * Routes the next batch of a connection's accepted orders. Returns how many it evaluated. Skips orders that cannot be
 * stored, and adds them to the run's failures.
 */
export async function routeDueOrders(
  context: Context,
  connection: ConnectionKey,
  failures: unknown[],
): Promise<number> {
  const batch = batchOf([connection], async (tx, selection, again) => {
    if (again) await limitLockWaits(tx, LOCK_WAIT_AGAIN_MS);
    return lockUnroutedOrders(tx, selection);
  });
  return processOrders(context, batch, failures);
}

/**
 * Routes orders that wait for stock or for a rate, if that is possible now. Leaves out orders that no longer wait.
 * Skips orders that cannot be stored, and returns the failures.
 */
export async function routeWaitingOrders(
  context: Context,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<unknown[]> {
  const orders = orderIds.map((id) => ({ ...connection, id }));
  const batch = batchOf([connection], async (tx, { only }, again) => {
    await limitLockWaits(tx, again ? LOCK_WAIT_AGAIN_MS : LOCK_WAIT_MS);
    return lockWaitingOrders(
      tx,
      orders.filter(({ id }) => only?.includes(id)),
    );
  });
  const failures: unknown[] = [];
  await processOrders(context, batch, failures, orders);
  return failures;
}

const batchOf = (
  connections: readonly [ConnectionKey],
  lock: OrderBatch<OrderKey>["lock"],
): OrderBatch<OrderKey> => ({
  connections,
  sizeMax: BATCH_SIZE,
  done: "routed",
  lock,
  process: (tx, orders, at) =>
    assignFacilities(
      tx,
      connections[0],
      orders.map(({ id }) => id),
      at,
    ),
});
