import { SERVICE, type TransitionCause } from "../../lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { type OrderBatch, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { readOrdersByKey } from "../orders-sql.ts";
import { listConnectionsWithShippedOrders, lockShippedOrders } from "./shipped-orders-sql.ts";

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
 * Completes the next batch of orders of these connections, whose merchants want automatic completion. An order is
 * complete if every line has shipped, it is not on hold, and no charge or refund is left to attempt (decision 0050).
 * Skips orders that cannot be stored, and adds them to the run's failures. Returns how many orders it processed.
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
