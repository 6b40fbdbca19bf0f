import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/days.ts";
import { EVENT_TYPES, HEALTHS } from "./filter-values.ts";
import {
  allDeliveriesQuery,
  deliveriesQuery,
  deliveryQuery,
  endpointQuery,
  endpointsQuery,
} from "./queries.ts";

const endpointsSearch = searchParams({
  health: oneOf(HEALTHS),
  mode: oneOf(["live", "test"]),
  merchantId: text,
  cursor: text,
});

export const endpointsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/webhook-endpoints",
  validateSearch: endpointsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(endpointsQuery(deps)),
  component: lazyRouteComponent(() => import("./endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

export const endpointRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId/webhook-endpoints/$endpointId",
  loader: ({ params }) => queryClient.ensureQueryData(endpointQuery(params.connectionId, params.endpointId)),
  component: lazyRouteComponent(() => import("./endpoints/endpoint-page.tsx"), "EndpointPage"),
});

const deliveriesSearch = searchParams({
  status: oneOf(["pending", "succeeded", "failed"]),
  eventType: oneOf(EVENT_TYPES),
  hasFailedAttempts: flag,
  endpointId: text,
  orderId: text,
  since: day,
  until: day,
  cursor: text,
});

export const deliveriesRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId/deliveries",
  validateSearch: deliveriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => void queryClient.prefetchQuery(deliveriesQuery(params.connectionId, deps)),
  component: lazyRouteComponent(() => import("./deliveries/deliveries-page.tsx"), "DeliveriesPage"),
});

const allDeliveriesSearch = searchParams({
  status: oneOf(["pending", "succeeded", "failed"]),
  eventType: oneOf(EVENT_TYPES),
  merchantId: text,
  since: day,
  until: day,
  cursor: text,
});

export const allDeliveriesRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/deliveries",
  validateSearch: allDeliveriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(allDeliveriesQuery(deps)),
  component: lazyRouteComponent(() => import("./deliveries/all-deliveries-page.tsx"), "AllDeliveriesPage"),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId/deliveries/$deliveryId",
  loader: ({ params }) => queryClient.ensureQueryData(deliveryQuery(params.connectionId, params.deliveryId)),
  component: lazyRouteComponent(() => import("./deliveries/delivery-page.tsx"), "DeliveryPage"),
});
