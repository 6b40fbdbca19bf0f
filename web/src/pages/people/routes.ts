import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { oneOf, searchParams, text } from "../../routing/search.ts";
import { peopleQuery, personQuery } from "./queries.ts";

const peopleSearch = searchParams({
  q: text,
  role: oneOf(["operator", "warehouse", "merchant", "partner", "support", "monitoring"]),
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
