import { certificationRoutes } from "./certifications.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { eventRoutes } from "./events.ts";
import { lifecycleRoutes } from "./lifecycle.ts";
import { mcpRoutes } from "./mcp.ts";
import { meRoutes, referenceRoutes } from "./me.ts";
import { orderRoutes } from "./orders.ts";
import type { PartnerRoute } from "./partner-route.ts";
import { productRoutes } from "./products.ts";
import { pullRoutes } from "./pull-endpoints.ts";
import { webhookRoutes } from "./webhook-endpoints.ts";

/** All routes of the partner API. All of them need a connection's key. */
export const partnerRoutes: readonly PartnerRoute[] = [
  ...orderRoutes,
  ...productRoutes,
  ...meRoutes,
  ...webhookRoutes,
  ...pullRoutes,
  ...deliveryRoutes,
  ...certificationRoutes,
  ...eventRoutes,
  ...mcpRoutes,
  ...lifecycleRoutes,
  ...referenceRoutes,
];
