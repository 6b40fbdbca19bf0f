import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { insertEvents } from "../../webhooks/publishing/events-sql.ts";
import { type ProductFilter, readProducts } from "../products-sql.ts";
import { exposeProducts, listByExposure, withdrawProducts } from "./exposure-sql.ts";
import { publishedEvent } from "./published-event.ts";

/** Products that one request changes. */
export const EXPOSURE_PRODUCTS_MAX = 500;
/** Products of one transaction. Each can have a delivery for each endpoint of the connection. */
const BATCH_SIZE = 100;

export type ExposureChange = "expose" | "withdraw";

/** Which products of the merchant are changed. */
export type ExposureFilter = Pick<ProductFilter, "sku" | "status" | "text">;

/**
 * Exposes products of the merchant to a connection, or withdraws them, in batches that are each stored whole, and returns
 * how many were not so before. `product.published` is published once for each product that was not exposed. Repeating it
 * has no further effect (decision 0104).
 */
export async function changeExposure(
  context: Context,
  key: ConnectionKey,
  change: ExposureChange,
  productIds: readonly string[],
  by: Initiator,
): Promise<number> {
  let changed = 0;
  for (let start = 0; start < productIds.length; start += BATCH_SIZE) {
    const batch = productIds.slice(start, start + BATCH_SIZE);
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
  { afterId, ...filter }: ExposureFilter & { readonly afterId: string },
  by: Initiator,
): Promise<{ readonly changed: number; readonly continueAfterId: string | null }> {
  const limit = EXPOSURE_PRODUCTS_MAX;
  const search = { ...filter, afterId, isExposed: change === "withdraw", limit };
  const { ids, readTo } = await listByExposure(context.db, key, search);
  const changed = await changeExposure(context, key, change, ids, by);
  return { changed, continueAfterId: ids.length === limit ? (ids.at(-1) ?? null) : readTo };
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
