import { START } from "../http/cursor.ts";
import { listConnectionsWithUnroutedOrders } from "../orders/routing-sql.ts";
import type { Service } from "../service.ts";
import { inTurn } from "../worker/in-turn.ts";
import { lookAtWaitingOrders } from "./look-at-waiting-orders.ts";
import { type DueRound, routeDueOrders } from "./route-orders.ts";

/**
 * Routes everything that can be: first the orders that wait for stock or rates that have come, then the new ones.
 * One chore for both, so that what arrives goes to those who have waited (decision 0046). Answers how many orders it
 * looked at.
 */
export const routeAllOrders = (service: Service, stopping?: AbortSignal): Promise<number> =>
  inTurn([lookAtWaitingOrders, routeNewOrders], (work) => work(service, stopping), stopping);

async function routeNewOrders(service: Service, stopping?: AbortSignal): Promise<number> {
  const connectionIds = await listConnectionsWithUnroutedOrders(service.db);
  const rounds = connectionIds.map(
    (connectionId): DueRound => ({
      connectionId,
      afterId: START,
      failures: [],
    }),
  );
  return inTurn(rounds, (round) => routeDueOrders(service, round), stopping);
}
