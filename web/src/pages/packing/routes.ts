import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, searchParams, text } from "../../routing/search.ts";
import {
  openFacilitiesQuery,
  openPickListsQuery,
  pickListQuery,
  slipQuery,
  slipsQuery,
  workQuery,
} from "./queries.ts";

// Apart from their routes: inside, TypeScript does not infer their types.
const workSearch = searchParams({ facilityId: text, taken: flag, cursor: text });
const importSearch = searchParams({ facilityId: text });
const stationSearch = searchParams({ pickListId: text, scan: text });
const slipsSearch = searchParams({ shipmentId: text });

export const workRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work",
  validateSearch: workSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => {
    void queryClient.prefetchQuery(workQuery(deps));
    void queryClient.prefetchQuery(openPickListsQuery(deps.facilityId));
    void queryClient.prefetchQuery(openFacilitiesQuery());
  },
  component: lazyRouteComponent(() => import("./work-page.tsx"), "WorkPage"),
});

export const pickListRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/pick-lists/$pickListId",
  loader: ({ params }) => queryClient.ensureQueryData(pickListQuery(params.pickListId)),
  component: lazyRouteComponent(() => import("./pick-list-page.tsx"), "PickListPage"),
});

export const stationRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/pack",
  validateSearch: stationSearch,
  component: lazyRouteComponent(() => import("./station-page.tsx"), "StationPage"),
});

export const trackingImportRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/import",
  validateSearch: importSearch,
  component: lazyRouteComponent(() => import("./import-page.tsx"), "TrackingImportPage"),
});

export const commandsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/commands",
  component: lazyRouteComponent(() => import("./slips-page.tsx"), "CommandsPage"),
});

export const slipsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/slips/$orderId",
  validateSearch: slipsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => queryClient.ensureQueryData(slipQuery(params.orderId, deps.shipmentId)),
  component: lazyRouteComponent(() => import("./slips-page.tsx"), "OrderSlipsPage"),
});

export const pickListSlipsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/work/pick-lists/$pickListId/slips",
  loader: ({ params }) => queryClient.ensureQueryData(slipsQuery(params.pickListId)),
  component: lazyRouteComponent(() => import("./slips-page.tsx"), "PickListSlipsPage"),
});
