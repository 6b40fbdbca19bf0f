import { appliedTransitions, SERVICE, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { type OrderBatch, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { readOrders } from "../orders-sql.ts";
import { lockShippedOrders } from "./shipped-orders-sql.ts";

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
  const batch: OrderBatch<Order> = {
    connection,
    done: "completed",
    lock: async (tx, selection) =>
      readOrders(tx, connection, await lockShippedOrders(tx, connection, selection, BATCH_SIZE)),
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
