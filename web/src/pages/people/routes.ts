import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { peopleQuery, personQuery, tokenQuery, tokensQuery } from "./queries.ts";
import { ROLES } from "./roles.ts";

const peopleSearch = searchParams({
  q: text,
  role: oneOf(ROLES),
  state: oneOf(["invited", "active", "disabled"]),
  cursor: text,
});

export const peopleRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/people",
  validateSearch: peopleSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(peopleQuery(deps)),
  component: lazyRouteComponent(() => import("./people-page.tsx"), "PeoplePage"),
});

export const personRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/people/$personId",
  loader: ({ params }) => queryClient.ensureQueryData(personQuery(params.personId)),
  component: lazyRouteComponent(() => import("./person-page.tsx"), "PersonPage"),
});

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

/** What a person changes of its own. */
export const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});
