import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, searchParams } from "../../routing/search.ts";
import { settingsQuery } from "./queries.ts";

export const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/settings",
  validateSearch: searchParams({ changed: flag }),
  loader: () => queryClient.ensureQueryData(settingsQuery()),
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});
