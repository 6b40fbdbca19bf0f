import { acceptanceOf } from "../../lifecycle/lifecycle.ts";
import type { OrderState } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { type OrderBatch, processOrders } from "../changes/process-orders.ts";
import { storeTransitions } from "../changes/store-transitions.ts";
import { listConnectionsWithDueOrders, lockDueOrders } from "./acceptance-sql.ts";

/** Orders accepted in one transaction. They are few, so that a partner's cancel never waits long. */
const BATCH_SIZE = 500;

/** Stores the acceptance of all orders whose window has closed. Returns how many orders it processed. */
export async function acceptAllDueOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(async () =>
      inBatches(await listConnectionsWithDueOrders(context.db, context.clock.now()), BATCH_SIZE),
    ),
    (connections, failures) => acceptDueOrders(context, connections, failures),
    stopping,
  );
}

/**
 * Accepts the next batch of orders of these connections whose window has closed. Skips orders that cannot be stored,
 * and adds them to the run's failures. Returns how many orders it processed. The lifecycle decides, as it does for a
 * read or a cancel at the same time (decision 0012).
 *
 * A batch takes one narrow read and one update, unless an endpoint wants `order.accepted`.
 */
export async function acceptDueOrders(
  context: Context,
  connections: readonly ConnectionKey[],
  failures: unknown[],
): Promise<number> {
  const batch: OrderBatch<OrderState> = {
    connections,
    sizeMax: BATCH_SIZE,
    done: "accepted",
    lock: (tx, selection) => lockDueOrders(tx, selection, context.clock.now()),
    process: (tx, orders, at) =>
      storeTransitions(
        tx,
        orders.flatMap((order) => acceptanceOf(order, at.now) ?? []),
        at,
      ),
  };
  return processOrders(context, batch, failures);
}
