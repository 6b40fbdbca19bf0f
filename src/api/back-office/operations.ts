import { orderReader, type ReadOrder } from "../../orders/read-order.ts";
import type { Context } from "../../platform/context.ts";

/** What the handlers of the back office's rows work with. */
export type BackOfficeOperations = {
  readonly context: Context;
  readonly readOrder: ReadOrder;
};

/** Made once for a listener: requests that arrive together are then read together. */
export const backOfficeOperations = (context: Context): BackOfficeOperations => ({
  context,
  readOrder: orderReader(context),
});
