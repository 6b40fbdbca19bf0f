import type { Context } from "../../platform/context.ts";
import { isOutOfReach } from "../../platform/database/database.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import {
  evaluateForRates,
  evaluateForStock,
  type RateChange,
  type RateWalk,
  type StockChange,
  type StockWalk,
} from "./evaluate-waiting-orders.ts";
import { listSupplyChanges } from "./supply-changes.ts";

/** Merchants whose waiting orders are read together. */
const MERCHANTS_MAX = 100;
/** Changes of stock that are evaluated together: each page of orders reads the stock of their products. */
const CHANGES_MAX = 1_000;

/** A walk of a merchant, and the changes that are not in it, because it has so many. A walk for them follows. */
type StockWalks = StockWalk & { later: readonly StockChange[] };

/** Walks that one statement continues. */
type Page =
  | { readonly about: "stock"; readonly walks: readonly StockWalks[] }
  | { readonly about: "rates"; readonly walks: readonly [RateWalk] };

/**
 * The walks of a run of routing through the waiting orders that supply changes can release (decision 0046). The run continues
 * them page by page, between its batches of new orders. So waiting orders of a merchant do not delay new orders of the others
 * (decision 0216).
 */
export class SupplyWalks {
  readonly #context: Context;
  /** Ids of changes whose walk has begun. After an order has failed, its change stays listed for the next run. */
  readonly #begun = new Set<string>();
  /** In the order of their turns. */
  #open: (StockWalks | RateWalk)[] = [];
  /** Merchants whose walk has ended, and whose new orders have had no turn since. */
  #ended = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  get areOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Merchants whose new orders are not routed now: goods that have arrived are for the older ones first. */
  merchants(): ReadonlySet<string> {
    return new Set(this.#open.flatMap((walk) => (walk.about === "stock" ? [walk.merchantId] : [])));
  }

  /**
   * Begins walks for changes that have had none. A merchant has one at a time, and before the next one its new orders have
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
      this.#open.push(stockWalk(merchantId, own));
    this.#open.push(...rates.map(rateWalk));
    this.#ended = new Set();
  }

  /**
   * Evaluates a page of the next walks; returns how many orders it evaluated. Walks that fail end: new orders of their
   * merchants must not wait for them.
   */
  async evaluatePage(failures: unknown[]): Promise<number> {
    const page = this.#nextPage();
    if (page === null) return 0;
    const walks = new Set<StockWalks | RateWalk>(page.walks);
    this.#open = this.#open.filter((walk) => !walks.has(walk));
    let count = 0;
    try {
      count = await evaluate(this.#context, page, failures);
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failures.push(error);
      for (const walk of walks) abandon(walk);
    }
    for (const walk of walks) this.#endTurn(walk);
    return count;
  }

  #nextPage(): Page | null {
    const [first] = this.#open;
    if (first === undefined) return null;
    if (first.about === "rates") return { about: "rates", walks: [first] };
    const walks: StockWalks[] = [];
    let changeCount = 0;
    for (const walk of this.#open.filter((open) => open.about === "stock").slice(0, MERCHANTS_MAX)) {
      changeCount += walk.changes.length;
      if (changeCount > CHANGES_MAX) break;
      walks.push(walk);
    }
    return { about: "stock", walks };
  }

  #endTurn(walk: StockWalks | RateWalk): void {
    if (walk.about === "stock" && walk.changes.length === 0 && walk.later.length > 0)
      this.#open.push(stockWalk(walk.merchantId, walk.later));
    else if (walk.changes.length > 0) this.#open.push(walk);
    else if (walk.about === "stock") this.#ended.add(walk.merchantId);
  }
}

const evaluate = (context: Context, page: Page, failures: unknown[]): Promise<number> =>
  page.about === "stock"
    ? evaluateForStock(context, page.walks, failures)
    : evaluateForRates(context, page.walks[0], failures);

const stockWalk = (merchantId: string, changes: readonly StockChange[]): StockWalks => ({
  about: "stock",
  merchantId,
  changes: changes.slice(0, CHANGES_MAX),
  later: changes.slice(CHANGES_MAX),
  afterId: UUID_MIN,
  isWhole: true,
});

const rateWalk = (change: RateChange): RateWalk => ({
  about: "rates",
  changes: [change],
  after: { merchantId: UUID_MIN, orderId: UUID_MIN },
  isWhole: true,
});

function abandon(walk: StockWalks | RateWalk): void {
  walk.changes = [];
  if (walk.about === "stock") walk.later = [];
}
