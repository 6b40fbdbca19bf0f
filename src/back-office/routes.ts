import type { Service } from "../service.ts";
import type { BackOfficeRoute } from "./access.ts";
import { accountRoutes } from "./account-routes.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { facilityRoutes } from "./facility-routes.ts";
import { importRoutes } from "./import-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { merchantRoutes } from "./merchant-routes.ts";
import { orderRoutes } from "./order-routes.ts";
import { orderStepRoutes } from "./order-step-routes.ts";
import { productRoutes } from "./product-routes.ts";
import { rateRoutes } from "./rate-routes.ts";
import { shippingRoutes } from "./shipping-routes.ts";
import { stockRoutes } from "./stock-routes.ts";
import { stripeRoutes } from "./stripe-routes.ts";

/** Every route of the back office API. Each names whom it admits. */
export const backOfficeRoutes = (service: Service): BackOfficeRoute[] => [
  ...merchantRoutes(service),
  ...accountRoutes(service),
  ...stripeRoutes(service),
  ...connectionRoutes(service),
  ...keyRoutes(service),
  ...productRoutes(service),
  ...importRoutes(service),
  ...deliveryRoutes(service),
  ...orderRoutes(service),
  ...orderStepRoutes(service),
  ...shippingRoutes(service),
  ...facilityRoutes(service),
  ...stockRoutes(service),
  ...rateRoutes(service),
];
