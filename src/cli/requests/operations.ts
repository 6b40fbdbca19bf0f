import { backOfficeRoutes } from "../../api/back-office/routes.ts";
import type { RouteDescription } from "../../api/route-description.ts";

const ROUTES = new Map<string, RouteDescription>(backOfficeRoutes.map((route) => [route.operationId, route]));

/** The route of an operation of the back office. */
export function routeOf(operationId: string): RouteDescription {
  const route = ROUTES.get(operationId);
  if (route === undefined) throw new Error(`The back office has no operation ${operationId}.`);
  return route;
}
