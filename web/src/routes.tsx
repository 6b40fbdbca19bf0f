import { createRouter } from "@tanstack/react-router";
import { connectionRoute, connectionsRoute } from "./pages/connections/routes.ts";
import {
  facilitiesRoute,
  facilityRoute,
  movementsRoute,
  stockImportRoute,
  stockListRoute,
  stockRoute,
} from "./pages/facilities/routes.ts";
import { merchantRoute, merchantStockRoute, merchantsRoute } from "./pages/merchants/routes.ts";
import { chargesRoute, failuresRoute, merchantAccountRoute } from "./pages/money/routes.ts";
import { auditRoute, settingsRoute, systemRoute } from "./pages/operation/routes.ts";
import { orderRoute, ordersRoute } from "./pages/orders/routes.ts";
import { overviewRoute } from "./pages/overview/routes.ts";
import {
  commandsRoute,
  pickListRoute,
  pickListSlipsRoute,
  slipsRoute,
  stationRoute,
  trackingImportRoute,
  workRoute,
} from "./pages/packing/routes.ts";
import { accountRoute, peopleRoute, personRoute, tokenRoute, tokensRoute } from "./pages/people/routes.ts";
import {
  exposedProductsRoute,
  importProductsRoute,
  merchantProductsRoute,
  productRoute,
  productsRoute,
} from "./pages/products/routes.ts";
import { returnsRoute } from "./pages/returns/routes.ts";
import { reviewRoute } from "./pages/review/routes.ts";
import { sandboxRoute, testOrderRoute, workbenchRoute } from "./pages/sandbox/routes.ts";
import { doctorRoute } from "./pages/signatures/routes.ts";
import {
  allDeliveriesRoute,
  deliveriesRoutes,
  deliveryRoutes,
  endpointRoutes,
  endpointsRoute,
} from "./pages/webhooks/routes.ts";
import { missingRoute, rootRoute, signedInRoute } from "./routing/root.tsx";
import { parseSearch, stringifySearch } from "./routing/search.ts";
import { ErrorPage, MissingPage } from "./shell/error-page.tsx";
import { resetPasswordRoute, signInRoute, welcomeRoute } from "./sign-in/routes.ts";
import { PageSkeleton } from "./ui/page.tsx";

/** All pages of the console. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  welcomeRoute,
  resetPasswordRoute,
  signedInRoute.addChildren([
    overviewRoute,
    ordersRoute,
    orderRoute,
    merchantsRoute,
    merchantRoute,
    merchantStockRoute,
    merchantAccountRoute,
    chargesRoute,
    failuresRoute,
    connectionsRoute,
    connectionRoute,

    productsRoute,
    merchantProductsRoute,
    importProductsRoute,
    productRoute,
    exposedProductsRoute,

    endpointsRoute,
    ...endpointRoutes,
    allDeliveriesRoute,
    ...deliveriesRoutes,
    ...deliveryRoutes,
    sandboxRoute,
    workbenchRoute,
    testOrderRoute,
    doctorRoute,

    reviewRoute,
    workRoute,
    pickListRoute,
    pickListSlipsRoute,
    stationRoute,
    trackingImportRoute,
    commandsRoute,
    slipsRoute,
    returnsRoute,
    facilitiesRoute,
    facilityRoute,
    stockListRoute,
    stockImportRoute,
    stockRoute,
    movementsRoute,

    peopleRoute,
    personRoute,
    tokensRoute,
    tokenRoute,
    auditRoute,
    systemRoute,
    settingsRoute,
    accountRoute,
    missingRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  // Pointing at a link loads the code and the data of its page.
  defaultPreload: "intent",
  // The page of another order, merchant or product is another page: a dialog must not stay open with what was typed for the first.
  defaultRemountDeps: ({ params }) => params,
  // TanStack Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: MissingPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
