import { createRoute, redirect } from "@tanstack/react-router";
import { paths } from "../../paths.ts";
import { signedInRoute } from "../../routing/root.tsx";

/** The first page. */
export const overviewRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ href: paths.orders() });
  },
});
