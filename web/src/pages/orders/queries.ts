import { read } from "../../api/read.ts";
import type { Order, OrderStatus, paths } from "../../api/schema.d.ts";
import { stringifySearch } from "../../routing/search.ts";

type OrderFilters = NonNullable<paths["/api/orders"]["get"]["parameters"]["query"]>;

export const ORDER_STATUSES = [
  "NEW",
  "PROCESSING",
  "ACCEPTED",
  "IN_PROGRESS",
  "COMPLETED",
  "CANCELED",
  "RETURNED",
] as const satisfies readonly OrderStatus[];

/** @param filters as in the address of the list */
export const ordersQuery = (filters: OrderFilters) =>
  read("/api/orders", { params: { query: { limit: 50, ...filters } } });

/** The orders of the list as a file. An export has fewer filters. */
export const ordersFile = ({
  merchantId,
  connectionId,
  facilityId,
  status,
  ...filters
}: OrderFilters): string =>
  `/api/orders/export${stringifySearch({
    merchantId,
    connectionId,
    facilityId,
    status,
    since: filters.createdSince,
    until: filters.createdUntil,
    format: "xlsx",
  })}`;

export const orderQuery = (id: string) => read("/api/orders/{id}", { params: { path: { id } } });

export const orderDeliveriesQuery = ({ connectionId, id }: Order) =>
  read("/api/connections/{id}/deliveries", {
    params: { path: { id: connectionId }, query: { orderId: id, limit: 50 } },
  });

/** What the endpoints have accepted of the order. */
export const orderProgressQuery = ({ id }: Order) =>
  read("/api/orders/{id}/events", { params: { path: { id }, query: { limit: 1 } } });

/** Orders in review, those that wait longest first. */
export const reviewQuery = (cursor: string | undefined) =>
  read("/api/orders", {
    params: {
      query: { status: "PROCESSING", sort: "oldest", limit: 25, ...(cursor !== undefined && { cursor }) },
    },
  });
