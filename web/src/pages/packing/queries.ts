import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import type { PickListWork, paths, WorkPage } from "../../api/schema.d.ts";
import { stringifySearch } from "../../routing/search.ts";

type WorkFilters = NonNullable<paths["/api/work-list"]["get"]["parameters"]["query"]>;

/** The route responds with CSV if it is asked for it. The console asks for JSON. */
async function jsonOf<Json extends object>(pending: Promise<Json | string>): Promise<Json> {
  const data = await pending;
  if (typeof data === "string") throw new Error("The service sent text in the place of JSON.");
  return data;
}

export const workQuery = (filters: WorkFilters) => {
  const params = { query: { limit: 50, ...filters } };
  return queryOptions<WorkPage>({
    queryKey: ["/api/work-list", params],
    queryFn: ({ signal }) => dataOf(api.GET("/api/work-list", { params, signal })),
  });
};

/** Pick lists that are being worked on. */
export const openPickListsQuery = (facilityId: string | undefined) =>
  read("/api/pick-lists", {
    params: { query: { limit: 100, open: true, ...(facilityId !== undefined && { facilityId }) } },
  });

export const pickListQuery = (id: string) => {
  const params = { path: { id } };
  return queryOptions<PickListWork>({
    queryKey: ["/api/pick-lists/{id}", params],
    queryFn: ({ signal }) => jsonOf(dataOf(api.GET("/api/pick-lists/{id}", { params, signal }))),
  });
};

export const slipQuery = (id: string, shipmentId?: string) =>
  read("/api/orders/{id}/packing-slip", {
    params: { path: { id }, query: shipmentId === undefined ? {} : { shipmentId } },
  });

/** The slips of all orders of a pick list. */
export const slipsQuery = (id: string) =>
  read("/api/pick-lists/{id}/packing-slips", { params: { path: { id } } });

export const openFacilitiesQuery = () => read("/api/facilities", { params: { query: { limit: 100 } } });

/** What waits, a row for each order, to fill in the tracking of its parcel. */
export const parcelsFile = ({ facilityId }: WorkFilters): string =>
  `/api/work-list/export${stringifySearch({ facilityId, rows: "parcels", format: "xlsx" })}`;

/** All orders that the filters match, as a file for the browser to store. */
export const workFile = ({ facilityId, taken }: WorkFilters): string =>
  `/api/work-list/export${stringifySearch({ facilityId, taken, format: "xlsx" })}`;
