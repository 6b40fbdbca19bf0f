import {
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type WaitingPosition,
} from "../../orders/routing/waiting-orders-sql.ts";
import type { Context } from "../../platform/context.ts";
import { readAvailability } from "../../stock/stock-sql.ts";
import { readRates } from "../facilities/facilities-sql.ts";
import { routeWaitingOrders } from "./route-orders.ts";
import { clearSupplyChange, type SupplyChange } from "./supply-changes.ts";

/** Waiting orders evaluated in one batch. */
const PAGE_SIZE = 100;

export type StockChange = Extract<SupplyChange, { about: "stock" }>;
export type RateChange = Extract<SupplyChange, { about: "rates" }>;

/**
 * The progress through the waiting orders of one merchant that its changes of stock can release. It is over when no change
 * is left. `isWhole`: no order has failed.
 */
export type StockWalk = {
  readonly about: "stock";
  readonly merchantId: string;
  changes: readonly StockChange[];
  afterId: string;
  isWhole: boolean;
};

/** The same through the waiting orders of all merchants, for the rates of one facility. */
export type RateWalk = {
  readonly about: "rates";
  changes: readonly [RateChange] | readonly [];
  after: WaitingPosition;
  isWhole: boolean;
};

/**
 * Evaluates the next orders of some merchants together, the oldest of each first. The changes are cleared only after the last
 * order of their merchant, so a crash only causes a second evaluation. They stay if an order of the merchant has failed, so
 * that it is evaluated again. Returns how many orders it evaluated.
 */
export async function evaluateForStock(
  context: Context,
  walks: readonly StockWalk[],
  failures: unknown[],
): Promise<number> {
  const { supplies, usedUp } = await readSupplies(
    context,
    walks.flatMap(({ changes }) => changes),
  );
  for (const walk of walks) walk.changes = walk.changes.filter((change) => !usedUp.has(change));
  await clearAll(context, usedUp); // The remaining orders wait for the next change.
  const open = walks.filter(({ changes }) => changes.length > 0);
  const { orders, ends } = await listOrdersWaitingForProducts(context.db, open, supplies, PAGE_SIZE);
  const failed = await routeWaitingOrders(context, orders);
  failures.push(...failed);
  const failedMerchants = new Set(failed.map(({ merchantId }) => merchantId));
  for (const walk of open) {
    walk.isWhole &&= !failedMerchants.has(walk.merchantId);
    const end = ends.get(walk.merchantId) ?? null;
    if (end === null) await close(context, walk);
    else walk.afterId = end;
  }
  return orders.length;
}

/** Evaluates the next orders for rates in the same way. The change also stays if an order could not be searched. */
export async function evaluateForRates(
  context: Context,
  walk: RateWalk,
  failures: unknown[],
): Promise<number> {
  const [change] = walk.changes;
  if (change === undefined) return 0;
  const rates = await readRates(context.db, change.facilityId);
  const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
  const page = await listOrdersWaitingForCountries(context.db, walk.after, countries, PAGE_SIZE);
  const failed = await routeWaitingOrders(context, page.orders);
  failures.push(...failed);
  walk.isWhole &&= page.isWhole && failed.length === 0;
  if (page.end === null) await close(context, walk);
  else walk.after = page.end;
  return page.orders.length;
}

async function close(context: Context, walk: StockWalk | RateWalk): Promise<void> {
  if (walk.isWhole) await clearAll(context, walk.changes);
  walk.changes = [];
}

/** The largest quantity of each product that one order can get. An order that contains more cannot be routed. */
async function readSupplies(context: Context, changes: readonly StockChange[]) {
  const products = changes.map(({ merchantId, productId }) => ({ merchantId, id: productId }));
  const availability = await readAvailability(context.db, products);
  const supplies = changes.map((change) => ({
    change,
    productId: change.productId,
    unitsMax: Math.max(0, ...(availability.get(change.productId)?.values() ?? [])),
  }));
  return {
    supplies: supplies.filter(({ unitsMax }) => unitsMax > 0),
    usedUp: new Set(supplies.filter(({ unitsMax }) => unitsMax === 0).map(({ change }) => change)),
  };
}

/** One by one: a single statement would lock the products in an order of its own, and could deadlock. */
async function clearAll({ db }: Context, changes: Iterable<SupplyChange>): Promise<void> {
  for (const change of changes) await clearSupplyChange(db, change);
}
