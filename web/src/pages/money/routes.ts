import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { oneOf, searchParams, text } from "../../routing/search.ts";
import { day } from "../../text/format.ts";
import { merchantQuery } from "../merchants/queries.ts";
import {
  accountQuery,
  CHARGE_KINDS,
  CHARGE_STATUSES,
  chargesQuery,
  failuresQuery,
  statementQuery,
} from "./queries.ts";

const failuresSearch = searchParams({ merchantId: text, cursor: text });

export const failuresRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/payment-failures",
  validateSearch: failuresSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(failuresQuery(deps)),
  component: lazyRouteComponent(() => import("./failures-page.tsx"), "FailuresPage"),
});

const statementSearch = searchParams({ from: day, to: day, cursor: text });

export const merchantAccountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants/$merchantId/account",
  validateSearch: statementSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { merchantId }, deps }) => {
    void queryClient.prefetchQuery(accountQuery(merchantId));
    void queryClient.prefetchQuery(statementQuery(merchantId, deps));
    return queryClient.ensureQueryData(merchantQuery(merchantId));
  },
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});

const chargesSearch = searchParams({
  kind: oneOf(CHARGE_KINDS),
  status: oneOf(CHARGE_STATUSES),
  since: day,
  until: day,
  cursor: text,
});

export const chargesRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/merchants/$merchantId/charges",
  validateSearch: chargesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ params: { merchantId }, deps }) => {
    void queryClient.prefetchQuery(chargesQuery(merchantId, deps));
    return queryClient.ensureQueryData(merchantQuery(merchantId));
  },
  component: lazyRouteComponent(() => import("./charges-page.tsx"), "ChargesPage"),
});
