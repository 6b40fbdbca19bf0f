import type { BackOfficeWebhookEndpoint, OwnWebhookEndpoint } from "../../../api/schema.d.ts";

/** An endpoint of any owner. */
export type ShownEndpoint = BackOfficeWebhookEndpoint | OwnWebhookEndpoint;

/** Only a connection has test orders, and so endpoints for them alone. */
export const isForTests = (endpoint: ShownEndpoint): boolean =>
  "mode" in endpoint && endpoint.mode === "test";
