import { eventRow } from "../events/event.ts";
import type { Connection } from "../merchants/connection.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { insertEvents } from "../webhooks/publishing/events-sql.ts";
import { type Product, toPartnerProduct } from "./product.ts";
import { exposeProduct, lockProduct } from "./products-sql.ts";

/**
 * Opens a product to a connection of its merchant, and tells it with `product.published`; both or neither. A product
 * that is exposed already stays so, and nothing is told again. Null when the merchant has no such product.
 */
export async function publishProduct(
  context: Context,
  connection: Connection,
  productId: string,
): Promise<Product | null> {
  const published = await inTransaction(context, async (tx) => {
    const product = await lockProduct(tx, productId);
    if (product === null || product.merchantId !== connection.merchantId) return null;
    const now = context.clock.now();
    const exposed = await exposeProduct(tx, connection.id, product, now);
    if (!exposed) return product;
    const event = eventRow({
      connectionId: connection.id,
      id: context.newId(),
      type: "product.published",
      occurredAt: now,
      testMode: false,
      orderId: null,
      sequence: null,
      notAfter: null,
      data: { product: toPartnerProduct(product) },
    });
    await insertEvents(tx, [event], now);
    return product;
  });
  context.signals.send("deliveries_due", [connection.id]);
  return published;
}
