import { failedOrders, goPastFailures, type OrderFailure } from "../../orders/changes/order-failure.ts";
import {
  limitLockWaits,
  lockUnroutedOrder,
  lockUnroutedOrders,
  lockWaitingOrders,
} from "../../orders/changes/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { assignFacilities } from "./assign-facilities.ts";

/** Orders routed in one transaction, which locks the stock of all their products. */
const BATCH_SIZE = 100;

/**
 * Longest wait for the lock of a waiting order or of its products' stock, when a page of orders is routed together. A
 * transaction that holds a lock for longer must not delay the orders of all connections.
 */
const LOCK_WAIT_MS = 1_000;
/** The same for an order of a failed batch that is routed alone: a hundred of them may wait for the same lock. */
const LOCK_WAIT_ALONE_MS = 100;

/**
 * Routes the next batch of a connection's accepted orders; returns how many it evaluated. Orders that cannot be stored are
 * skipped and added to the run's failures.
 */
export async function routeDueOrders(
  context: Context,
  connection: ConnectionKey,
  failures: unknown[],
): Promise<number> {
  const except = failedOrders(failures, connection); // They are still due, and would be first again.
  let orderIds: string[] = [];
  try {
    await routeOrders(context, connection, async (tx) => {
      orderIds = await lockUnroutedOrders(tx, connection, except, BATCH_SIZE);
      return orderIds;
    });
  } catch (error) {
    const failed = await goPastFailures({ error, connection, orderIds, step: "routed" }, (orderId) =>
      routeOrders(context, connection, async (tx) => {
        await limitLockWaits(tx, LOCK_WAIT_ALONE_MS);
        return lockUnroutedOrder(tx, connection, orderId, { ifFree: true });
      }),
    );
    failures.push(...failed);
  }
  return orderIds.length;
}

/** Routes one order if it is due for routing. */
export const routeOrder = (context: Context, connection: ConnectionKey, orderId: string): Promise<number> =>
  routeOrders(context, connection, (tx) => lockUnroutedOrder(tx, connection, orderId));

/**
 * Routes orders that wait for stock or for a rate, if that is possible now. Orders that wait no longer are left as they
 * are; orders that cannot be stored are skipped. Returns the failures.
 */
export async function routeWaitingOrders(
  context: Context,
  connection: ConnectionKey,
  orderIds: readonly string[],
): Promise<OrderFailure[]> {
  const route = (ids: readonly string[], lockWaitMs: number) =>
    routeOrders(context, connection, async (tx) => {
      await limitLockWaits(tx, lockWaitMs);
      return lockWaitingOrders(tx, connection, ids);
    });
  try {
    await route(orderIds, LOCK_WAIT_MS);
    return [];
  } catch (error) {
    return goPastFailures({ error, connection, orderIds, step: "routed" }, (orderId) =>
      route([orderId], LOCK_WAIT_ALONE_MS),
    );
  }
}

async function routeOrders(
  context: Context,
  connection: ConnectionKey,
  lockOrders: (tx: Queryable) => Promise<string[]>,
): Promise<number> {
  const count = await inTransaction(context, async (tx) => {
    const orderIds = await lockOrders(tx);
    const at = { newId: context.newId, now: context.clock.now() };
    if (orderIds.length > 0) await assignFacilities(tx, connection, orderIds, at);
    return orderIds.length;
  });
  if (count > 0) context.signals.send("deliveries_due", [connection]);
  return count;
}
