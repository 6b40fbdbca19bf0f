import { listConnectionsWithUnroutedOrders } from "../../orders/changes/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { lookAtWaitingOrders } from "./look-at-waiting-orders.ts";
import { routeDueOrders } from "./route-orders.ts";

/** Has its turn like a connection, and before all of them. */
const NEWS = { merchantId: "", connectionId: "" } satisfies ConnectionKey;

/**
 * Routes everything that can be: first the orders that wait for stock or rates that have come, then a batch of each
 * connection's new ones, and so on. One job for both, and news in every turn, so that what arrives goes to those who
 * have waited (decision 0046). Answers how many orders it looked at.
 */
export async function routeAllOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  const lookedAt = new Set<string>();
  return runInTurn(
    listedEachPass(async () => [NEWS, ...(await listConnectionsWithUnroutedOrders(context.db))]),
    (key, failures) =>
      key === NEWS
        ? lookAtWaitingOrders(context, { lookedAt, failures }, stopping)
        : routeDueOrders(context, key, failures),
    stopping,
  );
}
