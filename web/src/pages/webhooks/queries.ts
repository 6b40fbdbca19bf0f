import { read } from "../../api/read.ts";
import type { BackOfficeWebhookEndpoint, paths } from "../../api/schema.d.ts";
import { stringifySearch } from "../../routing/search.ts";
import { endOf, startOf } from "../../text/format.ts";
import type { OwnedEventType } from "./filter-values.ts";
import { ownerRoute } from "./owner.tsx";

type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? NonNullable<Query>
  : never;

export type EndpointFilters = QueryOf<"/api/webhook-endpoints">;
export type DeliveryFilters = Omit<QueryOf<"/api/connections/{id}/deliveries">, "eventType"> & {
  eventType?: OwnedEventType | undefined;
};

/** @param filters as in the address of the list */
export const endpointsQuery = (filters: EndpointFilters) =>
  read("/api/webhook-endpoints", { params: { query: { limit: 50, ...filters } } });

export const ownerEndpointsQuery = (id: string) =>
  read(ownerRoute(id, "/webhook-endpoints"), { params: { path: { id }, query: { limit: 100 } } });

/** Those of a connection that get the faults of test orders. */
export const testEndpointsQuery = (id: string) => ({
  ...read("/api/connections/{id}/webhook-endpoints", { params: { path: { id }, query: { limit: 100 } } }),
  select: ({ data }: { data: BackOfficeWebhookEndpoint[] }) => data.filter(({ mode }) => mode === "test"),
});

export const endpointQuery = (id: string, endpointId: string) =>
  read(ownerRoute(id, "/webhook-endpoints/{endpointId}"), { params: { path: { id, endpointId } } });

type AllDeliveriesFilters = QueryOf<"/api/deliveries">;

/** Of all owners that the person sees. @param filters as those of one owner */
export const allDeliveriesQuery = ({ since, until, ...filters }: AllDeliveriesFilters) =>
  read("/api/deliveries", {
    params: {
      query: {
        limit: 50,
        ...filters,
        ...(since !== undefined && { since: startOf(since) }),
        ...(until !== undefined && { until: endOf(until) }),
      },
    },
  });

/** @param filters as in the address of the list: `since` and `until` are days in the person's zone, both included */
export const deliveriesQuery = (id: string, filters: DeliveryFilters) =>
  read(ownerRoute(id, "/deliveries"), {
    params: { path: { id }, query: { limit: 50, ...toQuery(filters) } },
  });

const toQuery = ({ since, until, eventType, ...filters }: DeliveryFilters) => ({
  ...filters,
  // The page offers the types of its owner; the service rejects others.
  ...(eventType !== undefined && { eventType: eventType as never }),
  ...(since !== undefined && { since: startOf(since) }),
  ...(until !== undefined && { until: endOf(until) }),
});

/** The deliveries of an owner that the filters show, as a file for the browser to store. */
export const deliveriesFile = (id: string, { cursor: _, ...filters }: DeliveryFilters): string =>
  ownerRoute(id, "/deliveries/export").replace("{id}", encodeURIComponent(id)) +
  stringifySearch({ ...toQuery(filters), format: "xlsx" });

export const deliveryQuery = (id: string, deliveryId: string) =>
  read(ownerRoute(id, "/deliveries/{deliveryId}"), { params: { path: { id, deliveryId } } });
