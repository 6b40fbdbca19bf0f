import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../routing/root.tsx";
import { searchParams, text } from "../routing/search.ts";

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: searchParams({ next: text, error: text }),
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "SignInPage"),
});

export const welcomeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/welcome",
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "WelcomePage"),
});

export const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset-password",
  component: lazyRouteComponent(() => import("./sign-in-page.tsx"), "ResetPasswordPage"),
});
