import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { queryClient } from "../../api/query-client.ts";
import { signedInRoute } from "../../routing/root.tsx";
import { flag, oneOf, searchParams, text } from "../../routing/search.ts";
import { time } from "../../text/format.ts";
import { ORDER_STATUSES, orderQuery, ordersQuery } from "./queries.ts";

const orderSearch = searchParams({
  q: text,
  status: oneOf(ORDER_STATUSES),
  onHold: flag,
  holdReason: text,
  ready: flag,
  testMode: flag,
  merchantId: text,
  connectionId: text,
  facilityId: text,
  createdSince: time,
  createdUntil: time,
  hasFailedDelivery: flag,
  sort: oneOf(["newest", "oldest"]),
  cursor: text,
});

export const ordersRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/orders",
  validateSearch: orderSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => void queryClient.prefetchQuery(ordersQuery(deps)),
  component: lazyRouteComponent(() => import("./orders-page.tsx"), "OrdersPage"),
});

export const orderRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/orders/$orderId",
  loader: ({ params }) => queryClient.ensureQueryData(orderQuery(params.orderId)),
  component: lazyRouteComponent(() => import("./order/order-page.tsx"), "OrderPage"),
});
