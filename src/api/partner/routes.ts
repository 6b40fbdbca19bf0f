import { deliveryRoutes } from "./delivery-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { meRoutes } from "./me-routes.ts";
import { orderRoutes } from "./order-routes.ts";
import type { PartnerRoute } from "./partner-route.ts";
import { productRoutes } from "./product-routes.ts";
import { referenceRoutes } from "./reference-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

/** All routes of the partner API. All of them need a connection's key. */
export const partnerRoutes: readonly PartnerRoute[] = [
  ...orderRoutes,
  ...productRoutes,
  ...meRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...eventRoutes,
  ...referenceRoutes,
];
