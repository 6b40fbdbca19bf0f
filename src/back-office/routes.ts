import type { Route } from "../http/route.ts";
import type { Service } from "../service.ts";
import type { BackOfficeCaller } from "./authentication.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { merchantRoutes } from "./merchant-routes.ts";
import { productRoutes } from "./product-routes.ts";

/** Every route of the back office API. All of them need the operator's token. */
export const backOfficeRoutes = (service: Service): Route<BackOfficeCaller>[] => [
  ...merchantRoutes(service),
  ...connectionRoutes(service),
  ...keyRoutes(service),
  ...productRoutes(service),
];
