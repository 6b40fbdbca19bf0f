import type { Connection } from "../connections/connection.ts";
import { eventRow } from "../events/event.ts";
import { insertEvents } from "../events/events-sql.ts";
import { inOneStep, type Service } from "../service.ts";
import { type Product, toPartnerProduct } from "./product.ts";
import { exposeProduct, lockProduct } from "./products-sql.ts";

/**
 * Opens a product to a connection of its merchant, and tells it with `product.published`; both or neither. A product
 * that is exposed already stays so, and nothing is told again. Null when the merchant has no such product.
 */
export async function publishProduct(
  service: Service,
  connection: Connection,
  productId: string,
): Promise<Product | null> {
  const published = await inOneStep(service, async (tx) => {
    const product = await lockProduct(tx, productId);
    if (product === null || product.merchantId !== connection.merchantId) return null;
    const now = service.clock.now();
    const exposed = await exposeProduct(tx, connection.id, product, now);
    if (!exposed) return product;
    const event = eventRow({
      connectionId: connection.id,
      id: service.newId(),
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
  service.wakeDispatchers([connection.id]);
  return published;
}
