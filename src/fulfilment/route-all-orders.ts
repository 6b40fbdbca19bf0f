import { START } from "../http/cursor.ts";
import {
  listConnectionsWithUnroutedOrders,
  listOrdersWaitingForCountries,
  listOrdersWaitingForProduct,
  type WaitingOrder,
} from "../orders/routing-sql.ts";
import type { Service } from "../service.ts";
import { inTurn } from "../worker/in-turn.ts";
import { readRates } from "./facilities-sql.ts";
import { forgetNews, listNews, type News } from "./news-sql.ts";
import { type DueRound, routeDueOrders, routeWaitingOrders } from "./route-orders.ts";
import { tellFailures } from "./route-past-failures.ts";
import { readAvailability } from "./stock-sql.ts";

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
    (connectionId): DueRound => ({ connectionId, afterId: START, failures: [] }),
  );
  return inTurn(rounds, (round) => routeDueOrders(service, round), stopping);
}

/** Waiting orders looked at in one go. */
const PAGE_SIZE = 100;

/** How far somebody has come with a piece of news, and what failed on the way. */
type Round = { readonly news: News; afterId: string; readonly failures: Error[] };

async function lookAtWaitingOrders(service: Service, stopping?: AbortSignal): Promise<number> {
  const rounds = (await listNews(service.db)).map((news): Round => ({ news, afterId: START, failures: [] }));
  return inTurn(rounds, (round) => lookAtPage(service, round), stopping);
}

/**
 * The next page of orders that a piece of news may help, oldest first over all connections. The news is forgotten only
 * after the last of them, so that a crash in between costs nothing but a second look; and stays when an order failed,
 * which nobody would look at again otherwise.
 */
async function lookAtPage(service: Service, round: Round): Promise<number> {
  const page = await listHelped(service, round);
  for (const { connectionId, orderIds } of runsOf(page))
    round.failures.push(...(await routeWaitingOrders(service, connectionId, orderIds)));
  const last = page.at(-1);
  if (last !== undefined) {
    round.afterId = last.id;
    return page.length;
  }
  tellFailures(round.failures);
  await forgetNews(service.db, round.news);
  return 0;
}

async function listHelped({ db }: Service, { news, afterId }: Round): Promise<WaitingOrder[]> {
  if (news.about === "rates") {
    const countries = new Set((await readRates(db, news.subjectId)).map((rate) => rate.countryCode));
    return listOrdersWaitingForCountries(db, [...countries], afterId, PAGE_SIZE);
  }
  const availability = await readAvailability(db, [news.subjectId]);
  // Those that want more could not be helped anyway, and there may be thousands of them.
  const piecesMax = Math.max(0, ...(availability.get(news.subjectId)?.values() ?? []));
  if (piecesMax === 0) return []; // Used up: the others wait for the next news.
  return listOrdersWaitingForProduct(db, news.subjectId, piecesMax, afterId, PAGE_SIZE);
}

/** Neighbours of one connection go together; the order over all connections stays. */
function runsOf(orders: readonly WaitingOrder[]): { connectionId: string; orderIds: string[] }[] {
  const runs: { connectionId: string; orderIds: string[] }[] = [];
  for (const { connectionId, id } of orders) {
    const run = runs.at(-1);
    if (run?.connectionId === connectionId) run.orderIds.push(id);
    else runs.push({ connectionId, orderIds: [id] });
  }
  return runs;
}
