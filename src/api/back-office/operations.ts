import { type SystemReader, systemReader } from "../../monitoring/system.ts";
import { orderReader, type ReadOrder } from "../../orders/read-order.ts";
import type { WebhookContext } from "../../webhooks/context.ts";
import type { HealthContext } from "./health.ts";
import { UpdateHub } from "./updates/update-hub.ts";

/** The operations that handlers of the back office receive. */
export type BackOfficeOperations = {
  readonly context: WebhookContext;
  readonly readOrder: ReadOrder;
  readonly system: SystemReader;
  readonly updates: UpdateHub;
};

/**
 * Creates them once for a listener, so that reads that arrive together are done together.
 * @param health its connections read the state of the service, so that this does not depend on what others do
 */
export const backOfficeOperations = (
  context: WebhookContext,
  health: Pick<HealthContext, "db" | "stopping"> = context,
): BackOfficeOperations => ({
  context,
  readOrder: orderReader(context),
  system: systemReader({ ...context, db: health.db }),
  updates: new UpdateHub(context, health.stopping),
});
