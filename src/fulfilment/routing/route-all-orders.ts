import { listConnectionsWithUnroutedOrders } from "../../orders/routing/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { evaluateWaitingOrders } from "./evaluate-waiting-orders.ts";
import { ROUTED_TOGETHER_MAX, routeDueOrders } from "./route-orders.ts";

/** Stands for all waiting orders, which are processed before the batches of connections. */
const WAITING_ORDERS: readonly ConnectionKey[] = [];

/**
 * Routes all orders that can be routed. Each pass first evaluates the waiting orders that a supply change can release,
 * then routes batches of new orders, a share of each connection. So new stock goes first to the orders that have waited for it
 * (decision 0046). Returns how many orders it evaluated.
 */
export async function routeAllOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  const evaluated = new Set<string>();
  return runInTurn(
    listedEachPass(async () => [
      WAITING_ORDERS,
      ...inBatches(await listConnectionsWithUnroutedOrders(context.db), ROUTED_TOGETHER_MAX),
    ]),
    (connections, failures) =>
      connections === WAITING_ORDERS
        ? evaluateWaitingOrders(context, { evaluated, failures }, stopping)
        : routeDueOrders(context, connections, failures),
    stopping,
  );
}
