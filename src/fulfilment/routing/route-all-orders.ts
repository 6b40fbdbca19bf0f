import { listConnectionsWithUnroutedOrders } from "../../orders/routing/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { NO_UUID } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { evaluateWaitingOrders } from "./evaluate-waiting-orders.ts";
import { routeDueOrders } from "./route-orders.ts";

/** Stands for all waiting orders. They are processed like a connection, before all connections. */
const WAITING_ORDERS = { merchantId: NO_UUID, connectionId: NO_UUID } satisfies ConnectionKey;

/**
 * Routes all orders that can be routed. Each pass first evaluates the waiting orders that a supply change can release,
 * then routes a batch of each connection's new orders. So new stock goes first to the orders that have waited for it
 * (decision 0046). Returns how many orders it evaluated.
 */
export async function routeAllOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  const evaluated = new Set<string>();
  return runInTurn(
    listedEachPass(async () => [WAITING_ORDERS, ...(await listConnectionsWithUnroutedOrders(context.db))]),
    (key, failures) =>
      key === WAITING_ORDERS
        ? evaluateWaitingOrders(context, { evaluated, failures }, stopping)
        : routeDueOrders(context, key, failures),
    stopping,
  );
}
