import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { searchParams, text } from "../../routing/search.ts";
import { merchantConnectionsQuery, merchantQuery, merchantsQuery } from "./queries.ts";

const merchantsSearch = searchParams({ q: text, cursor: text });

export const merchantsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants",
  validateSearch: merchantsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(merchantsQuery(deps)),
  component: lazyRouteComponent(() => import("./merchants-page.tsx"), "MerchantsPage"),
});

export const merchantRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants/$merchantId",
  validateSearch: merchantsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => {
    void queryClient.prefetchQuery(merchantConnectionsQuery(params.merchantId, deps));
    return queryClient.ensureQueryData(merchantQuery(params.merchantId));
  },
  component: lazyRouteComponent(() => import("./merchant-page.tsx"), "MerchantPage"),
});
