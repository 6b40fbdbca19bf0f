import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import {
  facilitiesQuery,
  facilityQuery,
  MOVEMENT_KINDS,
  movementsQuery,
  ratesQuery,
  stockListQuery,
  stockQuery,
} from "./queries.ts";

/** A whole number of units, 1 at least. */
const units = (value: string): number | undefined =>
  /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;

// Apart from their routes: inside, TypeScript does not infer their types.
const facilitiesSearch = searchParams({ closed: flag, cursor: text });
const stockSearch = searchParams({ q: text, availableBelow: units, cursor: text });
const movementsSearch = searchParams({ kind: oneOf(MOVEMENT_KINDS), productId: text, cursor: text });

export const facilitiesRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities",
  validateSearch: facilitiesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(facilitiesQuery(deps)),
  component: lazyRouteComponent(() => import("./facilities-page.tsx"), "FacilitiesPage"),
});

export const facilityRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities/$facilityId",
  loader: ({ params: { facilityId } }) =>
    Promise.all([
      queryClient.ensureQueryData(facilityQuery(facilityId)),
      queryClient.ensureQueryData(ratesQuery(facilityId)),
    ]),
  component: lazyRouteComponent(() => import("./facility-page.tsx"), "FacilityPage"),
});

export const stockListRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities/$facilityId/stock",
  validateSearch: stockSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { facilityId }, deps }) => {
    void queryClient.prefetchQuery(stockListQuery(facilityId, deps));
    return queryClient.ensureQueryData(facilityQuery(facilityId));
  },
  component: lazyRouteComponent(() => import("./stock/stock-list-page.tsx"), "StockListPage"),
});

export const stockImportRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities/$facilityId/stock/import",
  loader: ({ params: { facilityId } }) => queryClient.ensureQueryData(facilityQuery(facilityId)),
  component: lazyRouteComponent(() => import("./stock/import-page.tsx"), "StockImportPage"),
});

export const stockRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities/$facilityId/stock/$productId",
  loader: ({ params: { facilityId, productId } }) =>
    Promise.all([
      queryClient.ensureQueryData(facilityQuery(facilityId)),
      queryClient.ensureQueryData(stockQuery(facilityId, productId)),
    ]),
  component: lazyRouteComponent(() => import("./stock/stock-page.tsx"), "StockPage"),
});

export const movementsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/facilities/$facilityId/movements",
  validateSearch: movementsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { facilityId }, deps }) => {
    void queryClient.prefetchQuery(movementsQuery(facilityId, deps));
    return queryClient.ensureQueryData(facilityQuery(facilityId));
  },
  component: lazyRouteComponent(() => import("./stock/movements-page.tsx"), "MovementsPage"),
});
