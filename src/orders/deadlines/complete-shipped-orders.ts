import { appliedTransitions, SERVICE, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { failedOrders, goPastFailures } from "../changes/order-failure.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { readOrders } from "../orders-sql.ts";
import { lockShippedOrder, lockShippedOrders } from "./shipped-orders-sql.ts";

const CAUSE: TransitionCause = { actor: SERVICE, operation: "complete" };

/** Orders completed in one transaction. */
const BATCH_SIZE = 50;

/**
 * Completes the next batch of a connection's orders whose merchant wants automatic completion: every line has shipped,
 * the order is not held, and no charge of it is left to attempt (decision 0050). Skips those that cannot be stored, and
 * adds them to the run's failures; returns how many orders it processed.
 */
export async function completeShippedOrders(
  context: Context,
  connection: ConnectionKey,
  failures: unknown[],
): Promise<number> {
  const except = failedOrders(failures, connection);
  let orderIds: string[] = [];
  try {
    await completeOrders(context, connection, async (tx) => {
      orderIds = await lockShippedOrders(tx, connection, { except, limit: BATCH_SIZE });
      return orderIds;
    });
  } catch (error) {
    const failed = await goPastFailures({ error, connection, orderIds, step: "completed" }, (orderId) =>
      completeOrders(context, connection, (tx) => lockShippedOrder(tx, connection, orderId)),
    );
    failures.push(...failed);
  }
  return orderIds.length;
}

async function completeOrders(
  context: Context,
  connection: ConnectionKey,
  lockOrders: (tx: Queryable) => Promise<string[]>,
): Promise<void> {
  const completed = await inTransaction(context, async (tx) => {
    const ids = await lockOrders(tx);
    const at = { newId: context.newId, now: context.clock.now() };
    const orders = await readOrders(tx, connection, ids);
    const transitions = orders.flatMap((order) =>
      appliedTransitions(order, applyTransition(order, { name: "complete" }, at.now), CAUSE),
    );
    await storeTransitions(tx, transitions, at);
    return ids.length;
  });
  if (completed > 0) context.signals.send("deliveries_due", [connection]);
}
