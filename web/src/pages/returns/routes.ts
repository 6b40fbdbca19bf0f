import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { signedInRoute } from "../../routing/root.tsx";

export const returnsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/returns",
  component: lazyRouteComponent(() => import("./returns-page.tsx"), "ReturnsPage"),
});
