import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { checksQuery, systemQuery } from "./queries.ts";

export const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/system",
  loader: () => {
    void queryClient.prefetchQuery(checksQuery());
    return queryClient.ensureQueryData(systemQuery());
  },
  component: lazyRouteComponent(() => import("./system-page.tsx"), "SystemPage"),
});
