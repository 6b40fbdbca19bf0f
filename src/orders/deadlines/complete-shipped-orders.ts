import { appliedTransitions, SERVICE, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { type OrderBatch, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { readOrdersByKey } from "../orders-sql.ts";
import { lockShippedOrders } from "./shipped-orders-sql.ts";

const CAUSE: TransitionCause = { actor: SERVICE, operation: "complete" };

/** Orders completed in one transaction. */
export const COMPLETED_TOGETHER_MAX = 50;

/**
 * Completes the next batch of orders of these connections, whose merchants want automatic completion: every line has
 * shipped, the order is not held, and no charge of it is left to attempt (decision 0050). Skips those that cannot be
 * stored, and adds them to the run's failures; returns how many orders it processed.
 */
export async function completeShippedOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch: OrderBatch<Order> = {
    connections,
    sizeMax: COMPLETED_TOGETHER_MAX,
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
