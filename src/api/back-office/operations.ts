import { orderReader, type ReadOrder } from "../../orders/read-order.ts";
import type { WebhookContext } from "../../webhooks/context.ts";

/** The operations that handlers of the back office receive. */
export type BackOfficeOperations = {
  readonly context: WebhookContext;
  readonly readOrder: ReadOrder;
};

/** Creates them once for a listener, so that reads that arrive together are done together. */
export const backOfficeOperations = (context: WebhookContext): BackOfficeOperations => ({
  context,
  readOrder: orderReader(context),
});
