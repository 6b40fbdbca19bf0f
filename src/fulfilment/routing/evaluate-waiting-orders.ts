import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type WaitingPage,
  type WaitingPosition,
} from "../../orders/routing/waiting-orders-sql.ts";
import type { Context } from "../../platform/context.ts";
import { eachUntilDone, inBatches, runInTurn } from "../../platform/run-in-turn.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import { readAvailability } from "../../stock/stock-sql.ts";
import { readRates } from "../facilities/facilities-sql.ts";
import { routeWaitingOrders } from "./route-orders.ts";
import { clearSupplyChange, listSupplyChanges, type SupplyChange } from "./supply-changes.ts";

/** Waiting orders evaluated in one batch. */
const PAGE_SIZE = 100;
/** Changes of stock that are evaluated together: each page of orders reads the stock of their products. */
const CHANGES_MAX = 1_000;

/** The state of a run of routing, over all its passes. */
type RoutingRun = {
  /** Ids of evaluated supply changes. After an order has failed, its change stays listed for the next run. */
  readonly evaluated: Set<string>;
  readonly failures: unknown[];
};

type StockChange = Extract<SupplyChange, { about: "stock" }>;
type RateChange = Extract<SupplyChange, { about: "rates" }>;

/** The progress through the waiting orders that some supply changes can release. `isWhole`: none was left out or failed. */
type Walk = { after: WaitingPosition; isWhole: boolean } & (
  | { readonly about: "stock"; changes: readonly StockChange[] }
  | { readonly about: "rates"; readonly changes: readonly [RateChange] }
);

/**
 * Routes waiting orders that supply changes can release, for all changes that the run has not evaluated yet (decision
 * 0046). Returns how many orders it evaluated.
 */
export async function evaluateWaitingOrders(
  context: Context,
  { evaluated, failures }: RoutingRun,
  stopping?: AbortSignal,
): Promise<number> {
  const changes = (await listSupplyChanges(context.db)).filter(({ id }) => !evaluated.has(id));
  for (const { id } of changes) evaluated.add(id);
  return runInTurn(
    eachUntilDone(walksFor(changes)),
    (walk) => evaluatePage(context, walk, failures),
    stopping,
  );
}

/**
 * Changes of stock are evaluated together, because each walk reads all waiting orders of their merchants, and one delivery of
 * goods can change hundreds of products. Rates change rarely.
 */
function walksFor(changes: readonly SupplyChange[]): Walk[] {
  const stock = changes.filter((change) => change.about === "stock");
  const rates = changes.filter((change) => change.about === "rates");
  const start = { after: { merchantId: UUID_MIN, orderId: UUID_MIN }, isWhole: true };
  return [
    ...inBatches(stock, CHANGES_MAX).map((some): Walk => ({ about: "stock", changes: some, ...start })),
    ...rates.map((change): Walk => ({ about: "rates", changes: [change], ...start })),
  ];
}

/**
 * Evaluates the next page of orders, the oldest of a merchant first. The changes are cleared only after the last page, so a crash
 * only causes a second evaluation. They stay if an order has failed, or could not be searched, so that it is evaluated again.
 * Returns 0 after the last page.
 */
async function evaluatePage(context: Context, walk: Walk, failures: unknown[]): Promise<number> {
  const { orders, end, isWhole } = await listReleasable(context, walk);
  const failed = await routeWaitingOrders(context, orders);
  failures.push(...failed);
  walk.isWhole &&= isWhole && failed.length === 0;
  if (end !== null) walk.after = end;
  else if (walk.isWhole) await clearAll(context, walk.changes);
  return end === null ? 0 : Math.max(orders.length, 1);
}

async function listReleasable(context: Context, walk: Walk): Promise<WaitingPage> {
  switch (walk.about) {
    case "stock": {
      const { supplies, usedUp } = await readSupplies(context, walk.changes);
      await clearAll(context, usedUp); // The remaining orders wait for the next change.
      walk.changes = walk.changes.filter((change) => !usedUp.includes(change));
      if (walk.changes.length === 0) return { orders: [], end: null, isWhole: true };
      return listOrdersWaitingForProducts(context.db, walk.after, supplies, PAGE_SIZE);
    }
    case "rates": {
      const rates = await readRates(context.db, walk.changes[0].facilityId);
      const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
      return listOrdersWaitingForCountries(context.db, walk.after, countries, PAGE_SIZE);
    }
    default:
      return walk satisfies never;
  }
}

/** The largest quantity of each product that one order can get. An order that contains more cannot be routed. */
async function readSupplies(context: Context, changes: readonly StockChange[]) {
  const products = changes.map(({ merchantId, productId }) => ({ merchantId, id: productId }));
  const availability = await readAvailability(context.db, products);
  const supplies = changes.map((change) => ({
    change,
    merchantId: change.merchantId,
    productId: change.productId,
    unitsMax: Math.max(0, ...(availability.get(change.productId)?.values() ?? [])),
  }));
  return {
    supplies: supplies.filter(({ unitsMax }) => unitsMax > 0),
    usedUp: supplies.filter(({ unitsMax }) => unitsMax === 0).map(({ change }) => change),
  };
}

/** One by one: a single statement would lock the products in an order of its own, and could deadlock. */
async function clearAll({ db }: Context, changes: readonly SupplyChange[]): Promise<void> {
  for (const change of changes) await clearSupplyChange(db, change);
}
