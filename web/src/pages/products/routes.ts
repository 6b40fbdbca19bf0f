import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { paths } from "../../paths.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { connectionQuery } from "../connections/queries.ts";
import { merchantQuery, merchantsQuery } from "../merchants/queries.ts";
import {
  exposedProductsQuery,
  merchantConnectionsQuery,
  PRODUCT_STATUSES,
  productConnectionsQuery,
  productQuery,
  productsQuery,
} from "./queries.ts";

// Apart from their routes: inside, TypeScript does not infer their types.
const chooseSearch = searchParams({ cursor: text });
const productsSearch = searchParams({
  q: text,
  status: oneOf(PRODUCT_STATUSES),
  connectionId: text,
  exposed: flag,
  cursor: text,
});
const productSearch = searchParams({ q: text, exposed: flag, cursor: text });
const exposedSearch = searchParams({ q: text, status: oneOf(PRODUCT_STATUSES), cursor: text });

/** Products belong to a merchant. A person who sees one merchant only is led to its products. */
export const productsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/products",
  validateSearch: chooseSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ deps: { cursor } }) => {
    const { data, nextCursor } = await queryClient.ensureQueryData(merchantsQuery({ cursor }));
    const [merchant, other] = data;
    if (merchant !== undefined && other === undefined && nextCursor === null && cursor === undefined)
      throw redirect({ to: paths.merchantProducts(merchant.id), replace: true } as never); // `paths` makes complete addresses.
  },
  component: lazyRouteComponent(() => import("./products-page.tsx"), "ChooseMerchantPage"),
});

export const merchantProductsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/products/of/$merchantId",
  validateSearch: productsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { merchantId }, deps }) => {
    void queryClient.prefetchQuery(productsQuery(merchantId, deps));
    void queryClient.prefetchQuery(merchantConnectionsQuery(merchantId));
    return queryClient.ensureQueryData(merchantQuery(merchantId));
  },
  component: lazyRouteComponent(() => import("./products-page.tsx"), "ProductsPage"),
});

export const importProductsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/products/of/$merchantId/import",
  loader: ({ params: { merchantId } }) => queryClient.ensureQueryData(merchantQuery(merchantId)),
  component: lazyRouteComponent(() => import("./import-page.tsx"), "ImportPage"),
});

export const productRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/products/$productId",
  validateSearch: productSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ params: { productId }, deps }) => {
    void queryClient.prefetchQuery(productConnectionsQuery(productId, deps));
    const { merchantId } = await queryClient.ensureQueryData(productQuery(productId));
    await queryClient.ensureQueryData(merchantQuery(merchantId));
  },
  component: lazyRouteComponent(() => import("./product-page.tsx"), "ProductPage"),
});

export const exposedProductsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/connections/$connectionId/products",
  validateSearch: exposedSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { connectionId }, deps }) => {
    void queryClient.prefetchQuery(exposedProductsQuery(connectionId, deps));
    return queryClient.ensureQueryData(connectionQuery(connectionId));
  },
  component: lazyRouteComponent(() => import("./exposed-products-page.tsx"), "ExposedProductsPage"),
});
