import { type CreateOrder, orderCreator } from "../../orders/creation/create-order.ts";
import { orderReader, type ReadOrder } from "../../orders/read-order.ts";
import { type ListProducts, productLister } from "../../products/list-products.ts";
import type { WebhookContext } from "../../webhooks/context.ts";

/** What the handlers of the partner's rows work with. */
export type PartnerOperations = {
  readonly context: WebhookContext;
  readonly createOrder: CreateOrder;
  readonly readOrder: ReadOrder;
  readonly listProducts: ListProducts;
};

/** Made once for a listener: requests that arrive together are then written, or read, together. */
export function partnerOperations(context: WebhookContext): PartnerOperations {
  const readOrder = orderReader(context);
  return {
    context,
    createOrder: orderCreator(context, readOrder),
    readOrder,
    listProducts: productLister(context.db),
  };
}
