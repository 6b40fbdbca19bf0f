import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Connection, keyOf } from "../../merchants/connection.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { insertEvents } from "../../webhooks/publishing/events-sql.ts";
import type { Product } from "../product.ts";
import { lockProduct } from "../products-sql.ts";
import { exposeProduct } from "./exposure-sql.ts";
import { publishedEvent } from "./published-event.ts";

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
