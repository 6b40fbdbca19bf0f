import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { connectionQuery } from "./queries.ts";

export const connectionRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId",
  loader: ({ params }) => queryClient.ensureQueryData(connectionQuery(params.connectionId)),
  component: lazyRouteComponent(() => import("./connection-page.tsx"), "ConnectionPage"),
});
