import { isChargedAtCreation } from "../../ledger/ledger.ts";
import { isExpired } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { needsReview, withDefaults } from "../../merchants/connection.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { type Queryable, UnavailableError } from "../../platform/database/database.ts";
import { retried } from "../../platform/database/retry.ts";
import { NO_SIGNALS } from "../../platform/signals.ts";
import { isCountryCode } from "../../platform/wire/countries.ts";
import { orderEvents } from "../changes/order-events.ts";
import { markTheseExpired } from "../deadlines/erase-test-orders-sql.ts";
import { countTestOrders } from "../reading/test-orders.ts";
import type { OrderRequest } from "./order-request.ts";
import {
  type EarlierOrder,
  insertOrders,
  type KnownProduct,
  type NewOrder,
  type OrderableProduct,
  productKey,
  type RequestedProduct,
  readEarlierOrders,
  readOrderableProducts,
} from "./place-orders-sql.ts";

export type Placed =
  | {
      readonly outcome: "created";
      readonly order: Order;
      readonly goodsMinor: bigint;
      readonly currency: string;
    }
  /** An earlier request with this key has succeeded. `by` is its order. */
  | { readonly outcome: "replayed"; readonly by: EarlierOrder }
  /** An earlier request with this key was another one. `by` is its order. */
  | { readonly outcome: "key-reused"; readonly by: EarlierOrder }
  | { readonly outcome: "external-id-taken"; readonly by: EarlierOrder }
  | ({ readonly outcome: "content-rejected" } & RejectedContent)
  /** The connection has this many test orders, and may not have more. */
  | { readonly outcome: "limit-reached"; readonly maximum: number };

/** A line whose product cannot be ordered, counted from 0. `unknown`: missing, another merchant's, or not exposed. */
export type RejectedLine = { readonly index: number; readonly reason: "unknown" | "discontinued" };

/** The parts of a request that no order can have. */
export type RejectedContent = {
  /** The country code, if it is not assigned (docs/design/creating-orders.md, "Country codes"). */
  readonly countryCode: string | null;
  readonly lines: readonly RejectedLine[];
};

/** What keeps an order from being stored before the constraints of the table do. */
type Rejection = Extract<Placed, { outcome: "content-rejected" | "limit-reached" }>;

/** Where orders are placed. `stored` runs the statement that stores them. */
type Placing = Pick<Context, "config" | "clock" | "newId" | "signals"> & {
  readonly db: Queryable;
  readonly known: KnownProducts;
  stored<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * A second round means that a known product has changed, that an order of one was rejected, or that a group has more test orders
 * than its connection has room for. A further one means that a conflicting order was marked for erasure since the round before.
 */
const ROUNDS_MAX = 5;

/**
 * Places orders that arrived together, each with its own outcome. First, stores everything that can be stored. Then finds out
 * why the other placements were rejected, in the order of checks of docs/design/creating-orders.md, "Order of checks".
 */
export async function placeOrders(
  context: Context,
  placements: readonly Placement[],
  known = new KnownProducts(),
): Promise<Placed[]> {
  const { config, clock, newId, signals, db } = context;
  const stored: Placing["stored"] = (work) => retried(db, clock, work);
  return placeAll({ config, clock, newId, signals, db, known, stored }, placements);
}

async function placeAll(context: Placing, placements: readonly Placement[]): Promise<Placed[]> {
  const outcomes = new Map<Placement, Placed>();
  for (let round = 0; round < ROUNDS_MAX && outcomes.size < placements.length; round += 1) {
    const open = placements.filter((placement) => !outcomes.has(placement));
    await placeOnce(context, open, await readProducts(context, open, round), outcomes);
  }
  return placements.map((placement) => {
    const placed = outcomes.get(placement);
    if (placed === undefined)
      throw new UnavailableError("An order could neither be stored nor be found; gave up.");
    return placed;
  });
}

/** Places one order on its own. */
export const placeOrder = async (context: Context, placement: Placement): Promise<Placed> =>
  only(await placeOrders(context, [placement]));

/** Places one order in a transaction, which is repeated as a whole. Signal its deliveries after the commit. */
export async function placeOrderWithin(
  tx: Queryable,
  { config, clock, newId }: Context,
  placement: Placement,
): Promise<Placed> {
  const placing = { config, clock, newId, signals: NO_SIGNALS, db: tx, known: new KnownProducts() };
  return only(await placeAll({ ...placing, stored: (work) => work() }, [placement]));
}

function only([placed]: readonly Placed[]): Placed {
  if (placed === undefined) throw new Error("Each placement has an outcome.");
  return placed;
}

type Products = {
  readonly all: ReadonlyMap<string, OrderableProduct>;
  /** Those that were not read now. */
  readonly known: ReadonlyMap<string, KnownProduct>;
};

/** The products of the placements, by `productKey`. In the first round, those that are known are not read again. */
async function readProducts(
  { db, known }: Placing,
  placements: readonly Placement[],
  round: number,
): Promise<Products> {
  const requested = distinctProducts(placements);
  const found = round === 0 ? known.among(requested) : new Map<string, KnownProduct>();
  const others = requested.filter(
    ({ connectionId, productId }) => !found.has(productKey(connectionId, productId)),
  );
  const read = await readOrderableProducts(db, others);
  known.keep(others, read);
  return { all: new Map([...found, ...read]), known: found };
}

async function placeOnce(
  context: Placing,
  placements: readonly Placement[],
  products: Products,
  outcomes: Map<Placement, Placed>,
): Promise<void> {
  const { db } = context;
  const now = context.clock.now();
  const beyondLimit = await findBeyondLimit(db, placements);
  const rejected = new Map<Placement, Rejection>();
  const drafts = new Map<Placement, NewOrder>();
  const undecided = new Set<Placement>();
  for (const placement of placements) {
    const { orderable, others } = linesOf(placement, products.all);
    const content = rejectedContent(placement, others);
    const limit = beyondLimit.get(placement);
    if (content === null && limit === undefined)
      drafts.set(placement, draftOrder(context, placement, orderable, now));
    // A known product may have changed, which the response has to name. The next round reads it.
    else if (hasKnownProduct(placement, products)) undecided.add(placement);
    else if (content !== null) rejected.set(placement, { outcome: "content-rejected", ...content });
    // If it is not reached, the orders before this one may leave it room, such as retries. The next round counts them.
    else if (limit?.isReached) rejected.set(placement, { outcome: "limit-reached", maximum: limit.maximum });
  }
  const stored = await context.stored(() =>
    insertOrders(db, [...drafts.values()], [...products.known.values()], now),
  );
  context.signals.send("deliveries_due", stored.connectionsWithDeliveries);
  for (const [placement, { order, goodsMinor, currency }] of drafts) {
    if (stored.ids.has(order.id))
      outcomes.set(placement, { outcome: "created", order, goodsMinor, currency });
  }
  const left = placements.filter((placement) => !outcomes.has(placement) && !undecided.has(placement));
  if (left.length > 0) await explain(context, left, rejected, outcomes, now);
}

const hasKnownProduct = ({ connectionId, request }: Placement, { known }: Products): boolean =>
  request.lines.some(({ productId }) => known.has(productKey(connectionId, productId)));

function distinctProducts(placements: readonly Placement[]): RequestedProduct[] {
  const requested = new Map<string, RequestedProduct>();
  for (const { merchantId, connectionId, request } of placements) {
    for (const { productId } of request.lines)
      requested.set(productKey(connectionId, productId), { merchantId, connectionId, productId });
  }
  return [...requested.values()];
}

/** Specification, part 4, rules 5 and 6. */
function linesOf(
  { connectionId, request }: Placement,
  products: ReadonlyMap<string, OrderableProduct>,
): { orderable: OrderableLine[]; others: RejectedLine[] } {
  const orderable: OrderableLine[] = [];
  const others: RejectedLine[] = [];
  for (const [index, { productId, quantity }] of request.lines.entries()) {
    const product = products.get(productKey(connectionId, productId));
    if (product === undefined) others.push({ index, reason: "unknown" });
    else if (product.discontinued) others.push({ index, reason: "discontinued" });
    else orderable.push({ product, quantity });
  }
  return { orderable, others };
}

function rejectedContent({ request }: Placement, lines: readonly RejectedLine[]): RejectedContent | null {
  const { countryCode } = request.shippingAddress;
  if (isCountryCode(countryCode)) return lines.length === 0 ? null : { countryCode: null, lines };
  return { countryCode, lines };
}

/** Finds out why placements were not stored. A placement whose conflict no longer exists is left for the next round. */
async function explain(
  context: Placing,
  left: readonly Placement[],
  rejected: ReadonlyMap<Placement, Rejection>,
  outcomes: Map<Placement, Placed>,
  now: Date,
): Promise<void> {
  const claims = left.map((p) => ({ ...p, externalOrderId: p.request.externalOrderId }));
  const earlier = await readEarlierOrders(context.db, claims);
  const expired = earlier.filter((order) => isExpired(order, now));
  // An expired test order frees its key and external id (docs/design/creating-orders.md, "One key space"), even if no worker
  // has marked it. It is erased later, so that no order waits for that
  // (docs/design/isolation-and-limits.md, "Test orders are erased in batches").
  await freeKeys(context, expired, now);
  const standing = earlier.filter((order) => !expired.includes(order));
  for (const placement of left) {
    const placed = explainOne(placement, standing, rejected.get(placement));
    if (placed !== undefined) outcomes.set(placement, placed);
  }
}

/** One short statement for each connection. An order that is locked is left for the next round. */
async function freeKeys({ db }: Placing, expired: readonly EarlierOrder[], now: Date): Promise<void> {
  for (const orders of Map.groupBy(expired, ({ connectionId }) => connectionId).values()) {
    const [connection] = orders;
    if (connection === undefined) continue;
    const orderIds = orders.map(({ id }) => id);
    await markTheseExpired(db, connection, orderIds, now);
  }
}

/**
 * docs/design/creating-orders.md, "Order of checks": the key is checked first, then the external id, then the content and the
 * limit.
 */
function explainOne(
  { connectionId, idempotencyKey, requestHash, request }: Placement,
  earlier: readonly EarlierOrder[],
  rejection: Rejection | undefined,
): Placed | undefined {
  const own = earlier.filter((order) => order.connectionId === connectionId);
  const byKey = own.find((order) => order.idempotencyKey === idempotencyKey);
  if (byKey?.requestHash.equals(requestHash)) return { outcome: "replayed", by: byKey };
  if (byKey !== undefined) return { outcome: "key-reused", by: byKey };
  const byExternalId = own.find(
    (order) => request.externalOrderId !== null && order.externalOrderId === request.externalOrderId,
  );
  if (byExternalId !== undefined) return { outcome: "external-id-taken", by: byExternalId };
  return rejection;
}

/** With their connection and merchant about 500 bytes each, besides their countries. */
const PRODUCTS_MAX = 20_000;
/** The length of all terms, which name the countries of the review policy. With these a product takes twelve bytes a character. */
const CHARACTERS_MAX = 2 * 2 ** 20;

/**
 * The products that a process has read last for orders. An order of a known product is stored only if the product is still as
 * it is known (docs/design/creating-orders.md, "Known products").
 */
export class KnownProducts {
  /** Those that were kept first come first. */
  readonly #products = new Map<string, KnownProduct>();
  #characters = 0;
  readonly #max: number;
  readonly #charactersMax: number;

  constructor(max = PRODUCTS_MAX, charactersMax = CHARACTERS_MAX) {
    this.#max = max;
    this.#charactersMax = charactersMax;
  }

  /** Those of the requested products that are known, by `productKey`. */
  among(requested: readonly RequestedProduct[]): Map<string, KnownProduct> {
    const found = new Map<string, KnownProduct>();
    for (const { connectionId, productId } of requested) {
      const key = productKey(connectionId, productId);
      const known = this.#products.get(key);
      if (known !== undefined) found.set(key, known);
    }
    return found;
  }

  /** @param read those of the requested products that there are. The others, and discontinued ones, are looked for each time. */
  keep(requested: readonly RequestedProduct[], read: ReadonlyMap<string, KnownProduct>): void {
    for (const { connectionId, productId } of requested) {
      const key = productKey(connectionId, productId);
      const product = read.get(key);
      this.#remove(key);
      if (product === undefined || product.discontinued) continue;
      this.#products.set(key, product);
      this.#characters += product.terms.length;
    }
    for (const key of this.#products.keys()) {
      if (this.#products.size <= this.#max && this.#characters <= this.#charactersMax) break;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#products.get(key)?.terms.length ?? 0;
    this.#products.delete(key);
  }
}

type Requested = ConnectionKey & { readonly request: { readonly testMode: boolean } };

/** The reason why a test order cannot be placed now. */
export type TestOrderLimit = {
  readonly maximum: number;
  /** True if the stored test orders reach it. If not, those that come first in the group would, unless they are not placed. */
  readonly isReached: boolean;
};

/**
 * Finds the test orders of a group for which their connections have no room. Nothing is locked: groups that are placed at the same
 * time may exceed the limit by as many orders as they have. Reads nothing for a group without test orders.
 */
export async function findBeyondLimit<Item extends Requested>(
  db: Queryable,
  items: readonly Item[],
): Promise<ReadonlyMap<Item, TestOrderLimit>> {
  const beyond = new Map<Item, TestOrderLimit>();
  const tests = Map.groupBy(
    items.filter(({ request }) => request.testMode),
    ({ connectionId }) => connectionId,
  );
  if (tests.size === 0) return beyond;
  const connections = [...tests.values()].flatMap((group) => group.slice(0, 1));
  const overridesOf = await readLimitOverrides(db, connections);
  const maximumFor = (connection: ConnectionKey) => maximumOf(overridesOf(connection), "testOrders");
  const countOf = await countTestOrders(db, connections, Math.max(...connections.map(maximumFor)));
  for (const group of tests.values()) {
    for (const [index, item] of group.entries()) {
      const maximum = maximumFor(item);
      const count = countOf(item);
      if (count + index >= maximum) beyond.set(item, { maximum, isReached: count >= maximum });
    }
  }
  return beyond;
}

export type Placement = ConnectionKey & {
  readonly idempotencyKey: string;
  readonly requestHash: Buffer;
  readonly request: OrderRequest;
  /** As in `x-request-id`. */
  readonly requestId: string | undefined;
};

type Drafting = Pick<Context, "config" | "newId">;

/** A line of a request with its product, which can be ordered. */
type OrderableLine = { readonly product: OrderableProduct; readonly quantity: number };

/** The order of a request, with its value and its first event. */
function draftOrder(
  context: Drafting,
  placement: Placement,
  lines: readonly OrderableLine[],
  now: Date,
): NewOrder {
  const { newId } = context;
  const { currency, goodsMinor, unitPricesMinor, isReviewed } = goodsOf(context, placement, lines);
  const order = newOrder(context, placement, isReviewed, now);
  const [event] = orderEvents(order, [{ type: "order.created" }], newId, now);
  if (event === undefined) throw new Error("One fact makes one event.");
  return {
    order,
    idempotencyKey: placement.idempotencyKey,
    requestHash: placement.requestHash,
    requestId: placement.requestId,
    goodsMinor,
    currency,
    charge: isChargedAtCreation(order) && goodsMinor > 0n,
    unitPricesMinor,
    event,
  };
}

type Goods = Pick<NewOrder, "currency" | "goodsMinor" | "unitPricesMinor"> & { readonly isReviewed: boolean };

/** What the goods cost the merchant, and whether the order starts in review. */
function goodsOf({ config }: Drafting, { request }: Placement, lines: readonly OrderableLine[]): Goods {
  const [first] = lines;
  if (first === undefined) throw new Error("An order has at least one line.");
  const goodsMinor = lines.reduce(
    (sum, { product, quantity }) => sum + BigInt(quantity) * product.priceMinor,
    0n,
  );
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0);
  const { reviewPolicy, currency } = first.product;
  const { countryCode } = request.shippingAddress;
  const policy = withDefaults(reviewPolicy, {
    maxQuantity: config.reviewOrderQuantity,
    maxOrderValueMinor: config.reviewOrderValuesMinor.get(currency) ?? null,
  });
  return {
    currency,
    goodsMinor,
    unitPricesMinor: lines.map(({ product }) => product.priceMinor),
    isReviewed: needsReview(policy, { quantity, goodsMinor, countryCode }),
  };
}

function newOrder(
  { config, newId }: Drafting,
  { merchantId, connectionId, request }: Placement,
  isReviewed: boolean,
  now: Date,
): Order {
  const hasWindow = !isReviewed && !request.testMode;
  return {
    merchantId,
    connectionId,
    id: newId(),
    testMode: request.testMode,
    externalOrderId: request.externalOrderId,
    status: isReviewed ? "PROCESSING" : "NEW",
    holdReasons: [],
    shippingAddress: request.shippingAddress,
    note: request.note,
    metadata: request.metadata,
    lines: request.lines.map((line) => ({
      ...line,
      id: newId(),
      shipmentId: null,
      splitFrom: null,
      cancellationId: null,
      returnedQuantity: 0,
    })),
    shipments: [],
    createdAt: now,
    updatedAt: now,
    acceptanceDueAt: hasWindow ? new Date(now.getTime() + config.acceptanceWindowMs) : null,
    expiresAt: request.testMode ? new Date(now.getTime() + config.testOrderLifetimeMs) : null,
    lastSequence: 1,
    routedAt: null,
    facilityId: null,
    canceledAt: null,
  };
}
