import { listConnectionsWithUnroutedOrders } from "../../orders/routing/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { ROUTED_TOGETHER_MAX, routeDueOrders } from "./route-orders.ts";
import { SupplyWalks } from "./supply-walks.ts";

/** Stands for a page of waiting orders. */
const WAITING_ORDERS: readonly ConnectionKey[] = [];

/**
 * Routes all orders that can be routed. Each pass routes batches of new orders, a share of each connection, and before each batch
 * evaluates a page of the waiting orders that a supply change can release. New orders of the merchants whose goods have arrived have
 * no turn until then, so new stock goes first to the orders that have waited for it (decision 0046). Returns how many orders it
 * evaluated.
 */
export async function routeAllOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  const walks = new SupplyWalks(context);
  let hasHeldBack = false;
  const listBatches = async (isLong: boolean) => {
    const connections = await listConnectionsWithUnroutedOrders(context.db);
    if (!isLong) await walks.begin(new Set(connections.map(({ merchantId }) => merchantId)));
    const waiting = walks.merchants();
    const others = connections.filter(({ merchantId }) => !waiting.has(merchantId));
    hasHeldBack = others.length < connections.length;
    const batches = inBatches(others, ROUTED_TOGETHER_MAX);
    if (!walks.areOpen) return batches;
    return batches.length === 0 ? [WAITING_ORDERS] : batches.flatMap((batch) => [WAITING_ORDERS, batch]);
  };
  return runInTurn(
    listedEachPass(listBatches, () => walks.areOpen || hasHeldBack),
    (connections, failures) =>
      connections === WAITING_ORDERS
        ? walks.evaluatePage(failures)
        : routeDueOrders(context, connections, failures),
    stopping,
  );
}
