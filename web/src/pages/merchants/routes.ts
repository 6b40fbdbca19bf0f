import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { meQuery, rolesOf } from "../../api/me.ts";
import { queryClient } from "../../api/query-client.ts";
import { paths } from "../../paths.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, searchParams, text } from "../../routing/search.ts";
import { merchantConnectionsQuery, merchantQuery, merchantStockQuery, merchantsQuery } from "./queries.ts";

const merchantsSearch = searchParams({ q: text, cursor: text });

export const merchantsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants",
  validateSearch: merchantsSearch,
  loaderDeps: ({ search }) => search,
  // A person who sees one merchant only is led to it; an operator creates others here.
  loader: async ({ deps }) => {
    const me = await queryClient.ensureQueryData(meQuery());
    if (rolesOf(me).includes("operator") || Object.keys(deps).length > 0)
      return void queryClient.prefetchQuery(merchantsQuery(deps));
    const { data, nextCursor } = await queryClient.ensureQueryData(merchantsQuery(deps));
    const [merchant, other] = data;
    if (merchant !== undefined && other === undefined && nextCursor === null)
      throw redirect({ to: paths.merchant(merchant.id), replace: true } as never); // `paths` makes complete addresses.
  },
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

const stockSearch = searchParams({ q: text, available: flag, cursor: text });

export const merchantStockRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants/$merchantId/stock",
  validateSearch: stockSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { merchantId }, deps }) => {
    void queryClient.prefetchQuery(merchantStockQuery(merchantId, deps));
    return queryClient.ensureQueryData(merchantQuery(merchantId));
  },
  component: lazyRouteComponent(() => import("./stock-page.tsx"), "MerchantStockPage"),
});
