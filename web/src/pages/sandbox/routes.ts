import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";
import { connectionQuery } from "../connections/queries.ts";
import { exposedProductsQuery, sandboxConnectionsQuery, testOrderQuery, testOrdersQuery } from "./queries.ts";

const connectionSearch = searchParams({ q: text, cursor: text });

export const sandboxRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/sandbox",
  validateSearch: connectionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => queryClient.ensureQueryData(sandboxConnectionsQuery(deps)),
  component: lazyRouteComponent(() => import("./sandbox-page.tsx"), "SandboxPage"),
});

export const workbenchRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/sandbox/$connectionId",
  loader: ({ params: { connectionId } }) => {
    void queryClient.prefetchQuery(exposedProductsQuery(connectionId, ""));
    void queryClient.prefetchQuery(testOrdersQuery(connectionId));
    return queryClient.ensureQueryData(connectionQuery(connectionId));
  },
  component: lazyRouteComponent(() => import("./workbench-page.tsx"), "WorkbenchPage"),
});

export const testOrderRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/sandbox/$connectionId/$orderId",
  loader: ({ params: { connectionId, orderId } }) =>
    Promise.all([
      queryClient.ensureQueryData(connectionQuery(connectionId)),
      queryClient.ensureQueryData(testOrderQuery(connectionId, orderId)),
    ]),
  component: lazyRouteComponent(() => import("./test-order-page.tsx"), "TestOrderPage"),
});
