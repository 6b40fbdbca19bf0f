import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../routing/root.tsx";
import { searchParams, text } from "../routing/search.ts";

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: searchParams({ next: text }),
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "SignInPage"),
});
