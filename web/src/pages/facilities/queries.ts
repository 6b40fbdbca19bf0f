import { read } from "../../api/read.ts";
import type { Me, paths, StockMovementKind } from "../../api/schema.d.ts";

type Filters = NonNullable<paths["/api/facilities"]["get"]["parameters"]["query"]>;
type StockFilters = NonNullable<paths["/api/facilities/{id}/stock"]["get"]["parameters"]["query"]>;
type MovementFilters = NonNullable<
  paths["/api/facilities/{id}/stock-movements"]["get"]["parameters"]["query"]
>;

export const MOVEMENT_KINDS = [
  "set",
  "adjusted",
  "shipped",
  "returned",
  "voided",
] as const satisfies readonly StockMovementKind[];

export const facilitiesQuery = (filters: Filters) =>
  read("/api/facilities", { params: { query: { limit: 50, ...filters } } });

export const facilityQuery = (id: string) => read("/api/facilities/{id}", { params: { path: { id } } });

export const ratesQuery = (id: string) => read("/api/facilities/{id}/rates", { params: { path: { id } } });

export const stockListQuery = (id: string, filters: StockFilters) =>
  read("/api/facilities/{id}/stock", { params: { path: { id }, query: { limit: 50, ...filters } } });

export const stockQuery = (id: string, productId: string) =>
  read("/api/facilities/{id}/stock/{productId}", { params: { path: { id, productId } } });

export const movementsQuery = (id: string, filters: MovementFilters) =>
  read("/api/facilities/{id}/stock-movements", {
    params: { path: { id }, query: { limit: 50, ...filters } },
  });

/**
 * Staff of named facilities create none, and see no order before it is routed to theirs (docs/design/people.md, "Facilities").
 */
export const worksEverywhere = ({ grants }: Me): boolean =>
  grants.some(
    ({ role, facilityIds }) => role === "operator" || (role === "warehouse" && facilityIds === null),
  );

/** All stock of a facility, as a workbook that an import reads. */
export const stockFile = (id: string): string =>
  `/api/facilities/${encodeURIComponent(id)}/stock/export?format=xlsx`;
