import { createRootRoute, createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { meQuery } from "../api/me.ts";
import { enterAllTabs } from "../api/other-tabs.ts";
import { isProblem } from "../api/problem.ts";
import { queryClient } from "../api/query-client.ts";
import { paths } from "../paths.ts";
import { MissingPage } from "../shell/error-page.tsx";

export const rootRoute = createRootRoute();

/** The parent of all pages but the sign-in page: it knows who is signed in. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "signed-in",
  component: lazyRouteComponent(() => import("../shell/layout.tsx"), "Layout"),
  beforeLoad: async ({ location }) => {
    try {
      const { personId } = await queryClient.ensureQueryData(meQuery());
      if (personId !== null) enterAllTabs(personId);
    } catch (error) {
      if (isProblem(error, "unauthorized")) throw redirect({ href: paths.signIn({ next: location.href }) });
      throw error;
    }
  },
});

/** Every other address, so that a mistyped one still has the navigation around it. */
export const missingRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "$",
  component: MissingPage,
});
