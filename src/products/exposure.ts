import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Connection, keyOf } from "../merchants/connection.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { inBatches } from "../platform/run-in-turn.ts";
import { ROWS_READ_MAX } from "../platform/wire/cursor.ts";
import { type EventRow, eventRow } from "../webhooks/events/event.ts";
import { countDeliveriesOf, insertEvents } from "../webhooks/publishing-sql.ts";
import {
  countExposed,
  endExposure,
  exposeProduct,
  exposeProducts,
  listByExposure,
  withdrawProducts,
} from "./exposure-sql.ts";
import { type Product, toPartnerProduct } from "./product.ts";
import { lockProduct, type ProductFilter, readProducts } from "./products-sql.ts";

/** Products that one request changes. */
export const EXPOSURE_PRODUCTS_MAX = 500;
/** Products that one preview counts. */
const PREVIEWED_MAX = ROWS_READ_MAX;
/** Products of one transaction, and deliveries that it may write: each product has one for each endpoint of the connection. */
const BATCH_SIZE = 100;
const BATCH_DELIVERIES = 2_000;
/** Deliveries that one request with a filter writes. With very many endpoints it ends earlier, and the next one continues. */
const REQUEST_DELIVERIES = 20_000;

export type ExposureChange = "expose" | "withdraw";

/**
 * Exposes products of the merchant to a connection, or withdraws them, in batches that are each stored whole, and returns how
 * many were not so before. `product.published` is published once for each product that was not exposed. Repeating it has no
 * further effect (docs/design/fulfilment.md, "Imports of a catalog").
 */
export async function changeExposure(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  productIds: readonly string[],
  by: Initiator,
): Promise<number> {
  const deliveries = await deliveriesOfEach(context, key, change);
  let changed = 0;
  for (const batch of inBatches(productIds, productsFor(BATCH_DELIVERIES, deliveries, BATCH_SIZE))) {
    changed += await inTransaction(context, (tx) =>
      change === "expose"
        ? exposeBatch(tx, context, key, batch, by)
        : withdrawBatch(tx, context, key, batch, by),
    );
    if (change === "expose") context.signals.send("deliveries_due", [key]);
  }
  return changed;
}

/**
 * The same for the next products after an id that fit a filter and are not so yet. `continueAfterId` is where the next
 * request begins; null if none is left.
 */
export async function changeExposureOfNext(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  search: NextProducts,
  by: Initiator,
): Promise<ChangedPart> {
  const deliveries = await deliveriesOfEach(context, key, change);
  const limit = productsFor(REQUEST_DELIVERIES, deliveries, EXPOSURE_PRODUCTS_MAX);
  const { ids, continueAfterId } = await nextProducts(context, key, change, search, limit);
  return { changed: await changeExposure(context, key, change, ids, by), continueAfterId };
}

/** How many deliveries the change of one product writes. */
const deliveriesOfEach = ({ db }: Context, key: ConnectionKey, change: ExposureChange): Promise<number> =>
  change === "expose" ? countDeliveriesOf(db, key, "product.published") : Promise.resolve(0);

/** As many products as make so many deliveries, at least one. */
const productsFor = (deliveriesMax: number, deliveriesOfEach: number, max: number): number =>
  Math.max(1, Math.min(max, Math.floor(deliveriesMax / Math.max(1, deliveriesOfEach))));

/** How many of these products of the merchant a change would change (docs/design/fulfilment.md, "Exposure"). */
export async function previewExposure(
  { db }: Context,
  key: ConnectionKey,
  change: ExposureChange,
  productIds: readonly string[],
): Promise<number> {
  const exposed = await countExposed(db, key, productIds);
  return change === "withdraw" ? exposed : productIds.length - exposed;
}

/** The same for the next products that fit a filter: more of them than one change stores. */
export async function previewExposureOfNext(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  search: NextProducts,
): Promise<ChangedPart> {
  const { ids, continueAfterId } = await nextProducts(context, key, change, search, PREVIEWED_MAX);
  return { changed: ids.length, continueAfterId };
}

type NextProducts = { readonly filter: ProductFilter; readonly afterId: string };
type ChangedPart = { readonly changed: number; readonly continueAfterId: string | null };

/** The next products that a change would change. */
async function nextProducts(
  { db }: Context,
  key: ConnectionKey,
  change: ExposureChange,
  search: NextProducts,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly continueAfterId: string | null }> {
  const isExposedHere = change === "withdraw";
  const { ids, readTo } = await listByExposure(db, key, { ...search, isExposedHere, limit });
  return { ids, continueAfterId: ids.length === limit ? (ids.at(-1) ?? null) : readTo };
}

async function exposeBatch(
  tx: Queryable,
  context: Context,
  key: ConnectionKey,
  productIds: readonly string[],
  by: Initiator,
): Promise<number> {
  const now = context.clock.now();
  const exposed = await exposeProducts(tx, key, productIds, now);
  const events = (await readProducts(tx, key.merchantId, exposed)).map((product) =>
    publishedEvent(key, product, context.newId(), now),
  );
  await insertEvents(tx, events, now);
  return recordChanged(tx, context, key, exposed, by);
}

async function withdrawBatch(
  tx: Queryable,
  context: Context,
  key: ConnectionKey,
  productIds: readonly string[],
  by: Initiator,
): Promise<number> {
  const withdrawn = await withdrawProducts(tx, key, productIds, context.clock.now());
  return recordChanged(tx, context, key, withdrawn, by);
}

async function recordChanged(
  tx: Queryable,
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  ids: readonly string[],
  by: Initiator,
): Promise<number> {
  if (ids.length > 0)
    await recordAudit(tx, context, by, { merchantId, connectionId, subject: "product", ids });
  return ids.length;
}

/**
 * Exposes a product to a connection of its merchant and publishes `product.published`, both or neither. If the product
 * is already exposed, nothing changes and nothing is published. Returns null if the merchant has no such product.
 */
export async function publishProduct(
  context: Context,
  connection: Connection,
  productId: string,
  by: Initiator,
): Promise<Product | null> {
  const key = keyOf(connection);
  const published = await inTransaction(context, async (tx) => {
    const product = await lockProduct(tx, { merchantId: connection.merchantId, id: productId });
    if (product === null) return null;
    const now = context.clock.now();
    const exposed = await exposeProduct(tx, key, product.id, now);
    if (!exposed) return product;
    await insertEvents(tx, [publishedEvent(key, product, context.newId(), now)], now);
    await recordAudit(tx, context, by, { ...key, subject: "product", ids: [product.id] });
    return product;
  });
  context.signals.send("deliveries_due", [key]);
  return published;
}

/** The event that a product was exposed to a connection. */
const publishedEvent = (key: ConnectionKey, product: Product, id: string, now: Date): EventRow =>
  eventRow({
    ...key,
    id,
    type: "product.published",
    occurredAt: now,
    testMode: false,
    orderId: null,
    sequence: null,
    notAfter: null,
    data: { product: toPartnerProduct(product) },
  });

/** Withdraws a product from a connection. If it is not exposed, nothing changes. */
export async function withdrawProduct(
  context: Context,
  { merchantId, connectionId }: ConnectionKey,
  productId: string,
  by: Initiator,
): Promise<void> {
  const key = { merchantId, connectionId };
  await inTransaction(context, async (tx) => {
    const withdrawn = await endExposure(tx, key, productId, context.clock.now());
    if (withdrawn) await recordAudit(tx, context, by, { ...key, subject: "product", ids: [productId] });
  });
}
