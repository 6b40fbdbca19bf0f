import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/format.ts";
import { ALL_EVENT_TYPES, HEALTHS } from "./filter-values.ts";
import { OWNER_KINDS } from "./owner.tsx";
import {
  allDeliveriesQuery,
  deliveriesQuery,
  deliveryQuery,
  endpointQuery,
  endpointsQuery,
} from "./queries.ts";

const endpointsSearch = searchParams({
  q: text,
  health: oneOf(HEALTHS),
  mode: oneOf(["live", "test"]),
  owner: oneOf(OWNER_KINDS),
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

// Each kind of owner has the same pages.

export const endpointRoutes = (
  [
    { path: "/connections/$ownerId/webhook-endpoints/$endpointId" },
    { path: "/merchants/$ownerId/webhook-endpoints/$endpointId" },
    { path: "/facilities/$ownerId/webhook-endpoints/$endpointId" },
  ] as const
).map(({ path }) =>
  createRoute({
    getParentRoute: () => signedInRoute,
    path,
    loader: ({ params }) => queryClient.ensureQueryData(endpointQuery(params.ownerId, params.endpointId)),
    component: lazyRouteComponent(() => import("./endpoints/endpoint-page.tsx"), "EndpointPage"),
  }),
);

const deliveriesSearch = searchParams({
  status: oneOf(["pending", "succeeded", "failed"]),
  eventType: oneOf(ALL_EVENT_TYPES),
  hasFailedAttempts: flag,
  endpointId: text,
  orderId: text,
  since: day,
  until: day,
  cursor: text,
});

export const deliveriesRoutes = (
  [
    { path: "/connections/$ownerId/deliveries" },
    { path: "/merchants/$ownerId/deliveries" },
    { path: "/facilities/$ownerId/deliveries" },
  ] as const
).map(({ path }) =>
  createRoute({
    getParentRoute: () => signedInRoute,
    path,
    validateSearch: deliveriesSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ params, deps }) => void queryClient.prefetchQuery(deliveriesQuery(params.ownerId, deps)),
    component: lazyRouteComponent(() => import("./deliveries/deliveries-page.tsx"), "DeliveriesPage"),
  }),
);

const allDeliveriesSearch = searchParams({
  status: oneOf(["pending", "succeeded", "failed"]),
  eventType: oneOf(ALL_EVENT_TYPES),
  owner: oneOf(OWNER_KINDS),
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
  component: lazyRouteComponent(() => import("./deliveries/deliveries-page.tsx"), "AllDeliveriesPage"),
});

export const deliveryRoutes = (
  [
    { path: "/connections/$ownerId/deliveries/$deliveryId" },
    { path: "/merchants/$ownerId/deliveries/$deliveryId" },
    { path: "/facilities/$ownerId/deliveries/$deliveryId" },
  ] as const
).map(({ path }) =>
  createRoute({
    getParentRoute: () => signedInRoute,
    path,
    loader: ({ params }) => queryClient.ensureQueryData(deliveryQuery(params.ownerId, params.deliveryId)),
    component: lazyRouteComponent(() => import("./deliveries/delivery-page.tsx"), "DeliveryPage"),
  }),
);
