import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { signedInRoute } from "../../routing/root.tsx";

/** What a person changes of its own. */
export const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});
