import { type EventRow, eventRow } from "../../events/event.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Product, toPartnerProduct } from "../product.ts";

/** The event that a product was exposed to a connection. */
export const publishedEvent = (key: ConnectionKey, product: Product, id: string, now: Date): EventRow =>
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
