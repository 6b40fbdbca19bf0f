import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { ROLES } from "../access/roles.ts";
import { tokenQuery, tokensQuery } from "./queries.ts";

const tokensSearch = searchParams({
  role: oneOf(ROLES),
  live: flag,
  cursor: text,
});

export const tokensRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/tokens",
  validateSearch: tokensSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(tokensQuery(deps)),
  component: lazyRouteComponent(() => import("./tokens-page.tsx"), "TokensPage"),
});

export const tokenRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/tokens/$tokenId",
  loader: ({ params }) => queryClient.ensureQueryData(tokenQuery(params.tokenId)),
  component: lazyRouteComponent(() => import("./token-page.tsx"), "TokenPage"),
});
