import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { meQuery, rolesOf } from "../../api/me.ts";
import { queryClient } from "../../api/query-client.ts";
import { paths } from "../../paths.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { oneOf, searchParams, text } from "../../routing/search.ts";
import { navigationOf } from "../../shell/navigation.ts";
import { overviewQuery, PERIODS, partsFor, workOverviewQuery } from "./queries.ts";

const overviewSearch = searchParams({ days: oneOf(PERIODS), merchantId: text });

/** The first page. For a person without an overview, it is the first one in the navigation. */
export const overviewRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  validateSearch: overviewSearch,
  loaderDeps: ({ search }) => search,
  beforeLoad: async () => {
    const me = await queryClient.ensureQueryData(meQuery());
    const [first] = navigationOf(rolesOf(me)).flatMap(({ items }) => items);
    if (first?.to !== paths.overview()) throw redirect({ href: first?.to ?? paths.merchants() });
  },
  loader: async ({ deps }) => {
    const { hasFigures, hasWork } = partsFor(rolesOf(await queryClient.ensureQueryData(meQuery())));
    if (hasFigures) void queryClient.prefetchQuery(overviewQuery(deps));
    if (hasWork) void queryClient.prefetchQuery(workOverviewQuery());
  },
  component: lazyRouteComponent(() => import("./overview-page.tsx"), "OverviewPage"),
});
