import { START } from "../http/cursor.ts";
import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type ProductSupply,
  type WaitingOrder,
} from "../orders/routing-sql.ts";
import type { Service } from "../service.ts";
import { inTurn } from "../worker/in-turn.ts";
import { readRates } from "./facilities-sql.ts";
import { forgetNews, listNews, type News } from "./news-sql.ts";
import { routeWaitingOrders } from "./route-orders.ts";
import { tellFailures } from "./route-past-failures.ts";
import { readAvailability } from "./stock-sql.ts";

/** Waiting orders looked at in one go. */
const PAGE_SIZE = 100;

/** How far somebody has come with the orders that some news may help, and what failed on the way. */
type Round = {
  readonly about: News["about"];
  /** What is not dealt with yet. */
  news: readonly News[];
  afterId: string;
  readonly failures: Error[];
};

/** Routes orders that wait, as far as there is news for them; answers how many it looked at (decision 0046). */
export async function lookAtWaitingOrders(service: Service, stopping?: AbortSignal): Promise<number> {
  const rounds = roundsOf(await listNews(service.db));
  return inTurn(rounds, (round) => lookAtPage(service, round), stopping);
}

/**
 * All news of stock goes together: each round reads through everybody that waits, and a delivery may bring hundreds of
 * products at once. Rates change seldom.
 */
function roundsOf(news: readonly News[]): Round[] {
  const stock = news.filter(({ about }) => about === "stock");
  const rates = news.filter(({ about }) => about === "rates");
  const beginning = { afterId: START };
  return [
    ...(stock.length === 0 ? [] : [{ about: "stock" as const, news: stock, ...beginning, failures: [] }]),
    ...rates.map((each) => ({ about: "rates" as const, news: [each], ...beginning, failures: [] })),
  ];
}

/**
 * The next page of orders that the news may help, oldest first over all connections. The news is forgotten only after
 * the last of them, so that a crash in between costs nothing but a second look; and stays when an order failed, which
 * nobody would look at again otherwise.
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
  await forgetAll(service, round.news);
  return 0;
}

function listHelped(service: Service, round: Round): Promise<WaitingOrder[]> {
  switch (round.about) {
    case "stock":
      return listHelpedByStock(service, round);
    case "rates":
      return listHelpedByRates(service, round);
    default:
      return round.about satisfies never;
  }
}

async function listHelpedByStock(service: Service, round: Round): Promise<WaitingOrder[]> {
  const availability = await readAvailability(
    service.db,
    round.news.map(({ subjectId }) => subjectId),
  );
  // Those that want more could not be helped anyway, and there may be thousands of them.
  const piecesMaxOf = ({ subjectId }: News) => Math.max(0, ...(availability.get(subjectId)?.values() ?? []));
  const isUsedUp = (news: News) => piecesMaxOf(news) === 0;
  await forgetAll(service, round.news.filter(isUsedUp)); // The others wait for the next news.
  round.news = round.news.filter((news) => !isUsedUp(news));
  if (round.news.length === 0) return [];
  const supplies = round.news.map(
    (news): ProductSupply => ({ productId: news.subjectId, piecesMax: piecesMaxOf(news) }),
  );
  return listOrdersWaitingForProducts(service.db, supplies, round.afterId, PAGE_SIZE);
}

async function listHelpedByRates({ db }: Service, { news, afterId }: Round): Promise<WaitingOrder[]> {
  const countries = new Set<string>();
  for (const { subjectId } of news)
    for (const { countryCode } of await readRates(db, subjectId)) countries.add(countryCode);
  return listOrdersWaitingForCountries(db, [...countries], afterId, PAGE_SIZE);
}

/** One by one: a statement for all would lock their products in an order of its own, and wait in a circle. */
async function forgetAll({ db }: Service, news: readonly News[]): Promise<void> {
  for (const each of news) await forgetNews(db, each);
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
