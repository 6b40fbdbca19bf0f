import {
  listConnectionsWithUnroutedOrders,
  listOrdersWaitingForCountries,
  listOrdersWaitingForProducts,
  type WaitingPosition,
} from "../../orders/routing-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { isOutOfReach, type Queryable } from "../../platform/database/database.ts";
import { inBatches, listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import { readAvailability } from "../../stock/stock-sql.ts";
import {
  clearStockChange,
  listStockChanges,
  type StockChange as StoredStockChange,
} from "../../stock/supply-changes-sql.ts";
import {
  clearRateChange,
  listRateChanges,
  readRates,
  type RateChange as StoredRateChange,
} from "../facilities-sql.ts";
import { ROUTED_TOGETHER_MAX, routeDueOrders, routeWaitingOrders } from "./route-orders.ts";

/** Waiting orders evaluated in one batch. */
const PAGE_SIZE = 100;

type StockChange = Extract<SupplyChange, { about: "stock" }>;
type RateChange = Extract<SupplyChange, { about: "rates" }>;

/**
 * The progress through the waiting orders of one merchant that its changes of stock can release. It is over when no change
 * is left. `isWhole`: no order has failed.
 */
type StockScan = {
  readonly about: "stock";
  readonly merchantId: string;
  changes: readonly StockChange[];
  afterId: string;
  isWhole: boolean;
};

/** The same through the waiting orders of all merchants, for the rates of one facility. */
type RateScan = {
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
async function evaluateForStock(
  context: Context,
  scans: readonly StockScan[],
  failures: unknown[],
): Promise<number> {
  const { supplies, usedUp } = await readSupplies(
    context,
    scans.flatMap(({ changes }) => changes),
  );
  for (const scan of scans) scan.changes = scan.changes.filter((change) => !usedUp.has(change));
  await clearAll(context, usedUp); // The remaining orders wait for the next change.
  const open = scans.filter(({ changes }) => changes.length > 0);
  const { orders, ends } = await listOrdersWaitingForProducts(context.db, open, supplies, PAGE_SIZE);
  const failed = await routeWaitingOrders(context, orders);
  failures.push(...failed);
  const failedMerchants = new Set(failed.map(({ merchantId }) => merchantId));
  for (const scan of open) {
    scan.isWhole &&= !failedMerchants.has(scan.merchantId);
    const end = ends.get(scan.merchantId) ?? null;
    if (end === null) await close(context, scan);
    else scan.afterId = end;
  }
  return orders.length;
}

/** Evaluates the next orders for rates in the same way. The change also stays if an order could not be searched. */
async function evaluateForRates(context: Context, scan: RateScan, failures: unknown[]): Promise<number> {
  const [change] = scan.changes;
  if (change === undefined) return 0;
  const rates = await readRates(context.db, change.facilityId);
  const countries = [...new Set(rates.map(({ countryCode }) => countryCode))];
  const page = await listOrdersWaitingForCountries(context.db, scan.after, countries, PAGE_SIZE);
  const failed = await routeWaitingOrders(context, page.orders);
  failures.push(...failed);
  scan.isWhole &&= page.isWhole && failed.length === 0;
  if (page.end === null) await close(context, scan);
  else scan.after = page.end;
  return page.orders.length;
}

async function close(context: Context, scan: StockScan | RateScan): Promise<void> {
  if (scan.isWhole) await clearAll(context, scan.changes);
  scan.changes = [];
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

/** Stands for a page of waiting orders. */
const WAITING_ORDERS: readonly ConnectionKey[] = [];

/**
 * Routes all orders that can be routed. Each pass routes batches of new orders, a share of each connection, and before each
 * batch evaluates a page of the waiting orders that a supply change can release. New orders of the merchants whose goods have
 * arrived have no turn until then, so new stock goes first to the orders that have waited for it
 * (docs/design/fulfilment.md, "Waiting orders"). Returns how many orders it evaluated.
 */
export async function routeAllOrders(context: Context, stopping?: AbortSignal): Promise<number> {
  const scans = new SupplyScans(context);
  let hasHeldBack = false;
  const listBatches = async (isLong: boolean) => {
    const connections = await listConnectionsWithUnroutedOrders(context.db);
    if (!isLong) await scans.begin(new Set(connections.map(({ merchantId }) => merchantId)));
    const waiting = scans.merchants();
    const others = connections.filter(({ merchantId }) => !waiting.has(merchantId));
    hasHeldBack = others.length < connections.length;
    const batches = inBatches(others, ROUTED_TOGETHER_MAX);
    if (!scans.areOpen) return batches;
    return batches.length === 0 ? [WAITING_ORDERS] : batches.flatMap((batch) => [WAITING_ORDERS, batch]);
  };
  return runInTurn(
    listedEachPass(listBatches, () => scans.areOpen || hasHeldBack),
    (connections, failures) =>
      connections === WAITING_ORDERS
        ? scans.evaluatePage(failures)
        : routeDueOrders(context, connections, failures),
    stopping,
  );
}

/** A change that can release waiting orders: more stock of a product, or new rates of a facility. */
type SupplyChange =
  | ({ readonly about: "stock" } & StoredStockChange)
  | ({ readonly about: "rates" } & StoredRateChange);

/** Changes for which not all waiting orders have been evaluated. */
export async function listSupplyChanges(db: Queryable): Promise<SupplyChange[]> {
  const stock = await listStockChanges(db);
  const rates = await listRateChanges(db);
  return [
    ...stock.map((change) => ({ about: "stock" as const, ...change })),
    ...rates.map((change) => ({ about: "rates" as const, ...change })),
  ];
}

/** Clears a change after all waiting orders have been evaluated for it. A later change of the same subject stays. */
export async function clearSupplyChange(db: Queryable, change: SupplyChange): Promise<void> {
  switch (change.about) {
    case "stock":
      return clearStockChange(db, change);
    case "rates":
      return clearRateChange(db, change);
    default:
      return change satisfies never;
  }
}

/** Merchants whose waiting orders are read together. */
const MERCHANTS_MAX = 100;
/** Changes of stock that are evaluated together: each page of orders reads the stock of their products. */
const CHANGES_MAX = 1_000;

/** A scan of a merchant, and the changes that are not in it, because it has so many. A scan for them follows. */
type StockScans = StockScan & { later: readonly StockChange[] };

/** Scans that one statement continues. */
type Page =
  | { readonly about: "stock"; readonly scans: readonly StockScans[] }
  | { readonly about: "rates"; readonly scans: readonly [RateScan] };

/**
 * The scans of a run of routing through the waiting orders that supply changes can release
 * (docs/design/fulfilment.md, "Waiting orders"). The run continues them page by page, between its batches of new orders. So
 * waiting orders of a merchant do not delay new orders of the others (docs/design/fulfilment.md, "Waiting orders").
 */
class SupplyScans {
  readonly #context: Context;
  /** Ids of changes whose scan has begun. After an order has failed, its change stays listed for the next run. */
  readonly #begun = new Set<string>();
  /** In the order of their turns. */
  #open: (StockScans | RateScan)[] = [];
  /** Merchants whose scan has ended, and whose new orders have had no turn since. */
  #ended = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Merchants whose new orders are not routed now: goods that have arrived are for the older ones first. */
  merchants(): ReadonlySet<string> {
    return new Set(this.#open.flatMap((scan) => (scan.about === "stock" ? [scan.merchantId] : [])));
  }

  /**
   * Begins scans for changes that have had none. A merchant has one at a time, and before the next one its new orders have
   * a turn: goods that arrive all the time must not hold them back.
   * @param withNewOrders merchants that have new orders
   */
  async begin(withNewOrders: ReadonlySet<string>): Promise<void> {
    const open = this.merchants();
    const isLater = (merchantId: string) =>
      open.has(merchantId) || (this.#ended.has(merchantId) && withNewOrders.has(merchantId));
    const changes = (await listSupplyChanges(this.#context.db)).filter(
      (change) => !this.#begun.has(change.id) && !(change.about === "stock" && isLater(change.merchantId)),
    );
    for (const { id } of changes) this.#begun.add(id);
    const stock = changes.filter((change) => change.about === "stock");
    const rates = changes.filter((change) => change.about === "rates");
    for (const [merchantId, own] of Map.groupBy(stock, (change) => change.merchantId))
      this.#open.push(stockScan(merchantId, own));
    this.#open.push(...rates.map(rateScan));
    this.#ended = new Set();
  }

  /**
   * Evaluates a page of the next scans; returns how many orders it evaluated. Scans that fail end: new orders of their
   * merchants must not wait for them.
   */
  async evaluatePage(failures: unknown[]): Promise<number> {
    const page = this.#nextPage();
    if (page === null) return 0;
    const scans = new Set<StockScans | RateScan>(page.scans);
    this.#open = this.#open.filter((scan) => !scans.has(scan));
    let count = 0;
    try {
      count = await evaluate(this.#context, page, failures);
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failures.push(error);
      for (const scan of scans) abandon(scan);
    }
    for (const scan of scans) this.#endTurn(scan);
    return count;
  }

  #nextPage(): Page | null {
    const [first] = this.#open;
    if (first === undefined) return null;
    if (first.about === "rates") return { about: "rates", scans: [first] };
    const scans: StockScans[] = [];
    let changeCount = 0;
    for (const scan of this.#open.filter((open) => open.about === "stock").slice(0, MERCHANTS_MAX)) {
      changeCount += scan.changes.length;
      if (changeCount > CHANGES_MAX) break;
      scans.push(scan);
    }
    return { about: "stock", scans };
  }

  #endTurn(scan: StockScans | RateScan): void {
    if (scan.about === "stock" && scan.changes.length === 0 && scan.later.length > 0)
      this.#open.push(stockScan(scan.merchantId, scan.later));
    else if (scan.changes.length > 0) this.#open.push(scan);
    else if (scan.about === "stock") this.#ended.add(scan.merchantId);
  }
}

const evaluate = (context: Context, page: Page, failures: unknown[]): Promise<number> =>
  page.about === "stock"
    ? evaluateForStock(context, page.scans, failures)
    : evaluateForRates(context, page.scans[0], failures);

const stockScan = (merchantId: string, changes: readonly StockChange[]): StockScans => ({
  about: "stock",
  merchantId,
  changes: changes.slice(0, CHANGES_MAX),
  later: changes.slice(CHANGES_MAX),
  afterId: UUID_MIN,
  isWhole: true,
});

const rateScan = (change: RateChange): RateScan => ({
  about: "rates",
  changes: [change],
  after: { merchantId: UUID_MIN, orderId: UUID_MIN },
  isWhole: true,
});

function abandon(scan: StockScans | RateScan): void {
  scan.changes = [];
  if (scan.about === "stock") scan.later = [];
}
