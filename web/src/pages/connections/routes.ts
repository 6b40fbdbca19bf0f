import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";
import { connectionQuery, connectionsQuery } from "./queries.ts";

const connectionsSearch = searchParams({ q: text, cursor: text });

export const connectionsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections",
  validateSearch: connectionsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(connectionsQuery(deps)),
  component: lazyRouteComponent(() => import("./connections-page.tsx"), "ConnectionsPage"),
});

export const connectionRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId",
  loader: ({ params }) => queryClient.ensureQueryData(connectionQuery(params.connectionId)),
  component: lazyRouteComponent(() => import("./connection-page.tsx"), "ConnectionPage"),
});
