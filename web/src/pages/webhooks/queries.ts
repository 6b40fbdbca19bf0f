import { read } from "../../api/read.ts";
import type { paths } from "../../api/schema.d.ts";
import { endOf, startOf } from "../../text/days.ts";

type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? NonNullable<Query>
  : never;

export type EndpointFilters = QueryOf<"/api/webhook-endpoints">;
export type DeliveryFilters = QueryOf<"/api/connections/{id}/deliveries">;

// The console shows the endpoints of partners. Programs of merchants and warehouses care for their own.
const ofPartners = { owner: "connection" } as const;

/** @param filters as in the address of the list */
export const endpointsQuery = (filters: EndpointFilters) =>
  read("/api/webhook-endpoints", { params: { query: { limit: 50, ...filters, ...ofPartners } } });

export const connectionEndpointsQuery = (id: string) =>
  read("/api/connections/{id}/webhook-endpoints", { params: { path: { id }, query: { limit: 100 } } });

export const endpointQuery = (id: string, endpointId: string) =>
  read("/api/connections/{id}/webhook-endpoints/{endpointId}", { params: { path: { id, endpointId } } });

type AllDeliveriesFilters = QueryOf<"/api/deliveries">;

/** Of all connections that the person sees. @param filters as those of one connection */
export const allDeliveriesQuery = ({ since, until, ...filters }: AllDeliveriesFilters) =>
  read("/api/deliveries", {
    params: {
      query: {
        limit: 50,
        ...filters,
        ...ofPartners,
        ...(since !== undefined && { since: startOf(since) }),
        ...(until !== undefined && { until: endOf(until) }),
      },
    },
  });

/** @param filters as in the address of the list: `since` and `until` are days in the person's zone, both included */
export const deliveriesQuery = (id: string, { since, until, ...filters }: DeliveryFilters) =>
  read("/api/connections/{id}/deliveries", {
    params: {
      path: { id },
      query: {
        limit: 50,
        ...filters,
        ...(since !== undefined && { since: startOf(since) }),
        ...(until !== undefined && { until: endOf(until) }),
      },
    },
  });

export const deliveryQuery = (id: string, deliveryId: string) =>
  read("/api/connections/{id}/deliveries/{deliveryId}", { params: { path: { id, deliveryId } } });
