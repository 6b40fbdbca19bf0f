import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type ProductSupply,
  type WaitingOrder,
} from "../../orders/changes/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { eachUntilDone, runInTurn } from "../../platform/run-in-turn.ts";
import { START } from "../../platform/wire/cursor.ts";
import type { Availability } from "../../stock/stock.ts";
import { readAvailability } from "../../stock/stock-sql.ts";
import { clearSupplyChange, listSupplyChanges, type SupplyChange } from "../../stock/supply-changes-sql.ts";
import { readRates } from "../facilities/facilities-sql.ts";
import { routeWaitingOrders } from "./route-orders.ts";

/** Waiting orders looked at in one go. */
const PAGE_SIZE = 100;

/** What a round of routing has come to, over all its turns. */
type RoutingRound = {
  /** News whose orders have all been looked at, by its ids. Some stands, as an order failed; the next round sees to it. */
  readonly lookedAt: Set<string>;
  readonly failures: unknown[];
};

/** How far somebody has come with the orders that some news may help. */
type Pass = {
  readonly about: SupplyChange["about"];
  /** What is not dealt with yet. */
  news: readonly SupplyChange[];
  afterId: string;
  hasFailures: boolean;
};

/**
 * Routes orders that wait, as far as there is news for them that the round has not looked at; answers how many it
 * looked at (decision 0046).
 */
export async function lookAtWaitingOrders(
  context: Context,
  { lookedAt, failures }: RoutingRound,
  stopping?: AbortSignal,
): Promise<number> {
  const news = (await listSupplyChanges(context.db)).filter(({ id }) => !lookedAt.has(id));
  for (const { id } of news) lookedAt.add(id);
  return runInTurn(eachUntilDone(passesFor(news)), (pass) => lookAtPage(context, pass, failures), stopping);
}

/**
 * All news of stock goes together: each pass reads through everybody that waits, and a delivery may bring hundreds of
 * products at once. Rates change seldom.
 */
function passesFor(news: readonly SupplyChange[]): Pass[] {
  const stock = news.filter(({ about }) => about === "stock");
  const rates = news.filter(({ about }) => about === "rates");
  const beginning = { afterId: START, hasFailures: false };
  return [
    ...(stock.length === 0 ? [] : [{ about: "stock" as const, news: stock, ...beginning }]),
    ...rates.map((each) => ({ about: "rates" as const, news: [each], ...beginning })),
  ];
}

/**
 * The next page of orders that the news may help, oldest first over all connections. The news is forgotten only after
 * the last of them, so that a crash in between costs nothing but a second look; and stays when an order failed, which
 * nobody would look at again otherwise.
 */
async function lookAtPage(context: Context, pass: Pass, failures: unknown[]): Promise<number> {
  const page = await listHelped(context, pass);
  for (const { connection, orderIds } of runsOf(page)) {
    const failed = await routeWaitingOrders(context, connection, orderIds);
    failures.push(...failed);
    pass.hasFailures ||= failed.length > 0;
  }
  const last = page.at(-1);
  if (last !== undefined) pass.afterId = last.id;
  else if (!pass.hasFailures) await forgetAll(context, pass.news);
  return page.length;
}

function listHelped(context: Context, pass: Pass): Promise<WaitingOrder[]> {
  switch (pass.about) {
    case "stock":
      return listHelpedByStock(context, pass);
    case "rates":
      return listHelpedByRates(context, pass);
    default:
      return pass.about satisfies never;
  }
}

async function listHelpedByStock(context: Context, pass: Pass): Promise<WaitingOrder[]> {
  const availability = await readAvailabilityOf(context, pass.news);
  // Those that want more could not be helped anyway, and there may be thousands of them.
  const piecesMaxOf = ({ subjectId }: SupplyChange) =>
    Math.max(0, ...(availability.get(subjectId)?.values() ?? []));
  const isUsedUp = (news: SupplyChange) => piecesMaxOf(news) === 0;
  await forgetAll(context, pass.news.filter(isUsedUp)); // The others wait for the next news.
  pass.news = pass.news.filter((news) => !isUsedUp(news));
  if (pass.news.length === 0) return [];
  const supplies = pass.news.map(
    (news): ProductSupply => ({ productId: news.subjectId, piecesMax: piecesMaxOf(news) }),
  );
  return listOrdersWaitingForProducts(context.db, supplies, pass.afterId, PAGE_SIZE);
}

/** Of products of several merchants. */
async function readAvailabilityOf({ db }: Context, news: readonly SupplyChange[]): Promise<Availability> {
  const byMerchant = Map.groupBy(news, ({ merchantId }) => merchantId ?? "");
  const read = [...byMerchant].map(([merchantId, ofMerchant]) =>
    readAvailability(
      db,
      merchantId,
      ofMerchant.map(({ subjectId }) => subjectId),
    ),
  );
  return new Map((await Promise.all(read)).flatMap((availability) => [...availability]));
}

async function listHelpedByRates({ db }: Context, { news, afterId }: Pass): Promise<WaitingOrder[]> {
  const countries = new Set<string>();
  for (const { subjectId } of news)
    for (const { countryCode } of await readRates(db, subjectId)) countries.add(countryCode);
  return listOrdersWaitingForCountries(db, [...countries], afterId, PAGE_SIZE);
}

/** One by one: a statement for all would lock their products in an order of its own, and wait in a circle. */
async function forgetAll({ db }: Context, news: readonly SupplyChange[]): Promise<void> {
  for (const each of news) await clearSupplyChange(db, each);
}

/** Neighbours of one connection go together; the order over all connections stays. */
function runsOf(orders: readonly WaitingOrder[]): { connection: ConnectionKey; orderIds: string[] }[] {
  const runs: { connection: ConnectionKey; orderIds: string[] }[] = [];
  for (const order of orders) {
    const run = runs.at(-1);
    if (run?.connection.connectionId === order.connectionId) run.orderIds.push(order.id);
    else runs.push({ connection: order, orderIds: [order.id] });
  }
  return runs;
}
