import { read } from "../../api/read.ts";
import type { ProductStatus, paths } from "../../api/schema.d.ts";

type ProductFilters = NonNullable<paths["/api/merchants/{id}/products"]["get"]["parameters"]["query"]>;
type ExposedFilters = NonNullable<paths["/api/connections/{id}/products"]["get"]["parameters"]["query"]>;
type ConnectionFilters = NonNullable<paths["/api/products/{id}/connections"]["get"]["parameters"]["query"]>;

export const PRODUCT_STATUSES = ["active", "discontinued"] as const satisfies readonly ProductStatus[];

const pathOf = (id: string) => ({ path: { id } });

/** @param filters as in the address of the list */
export const productsQuery = (merchantId: string, filters: ProductFilters) =>
  read("/api/merchants/{id}/products", {
    params: { ...pathOf(merchantId), query: { limit: 50, ...filters } },
  });

export const productQuery = (id: string) => read("/api/products/{id}", { params: pathOf(id) });

export const productStockQuery = (id: string) =>
  read("/api/products/{id}/stock", { params: { ...pathOf(id), query: { limit: 100 } } });

export const productConnectionsQuery = (id: string, filters: ConnectionFilters) =>
  read("/api/products/{id}/connections", { params: { ...pathOf(id), query: { limit: 50, ...filters } } });

export const exposedProductsQuery = (connectionId: string, filters: ExposedFilters) =>
  read("/api/connections/{id}/products", {
    params: { ...pathOf(connectionId), query: { limit: 50, ...filters } },
  });

/** The connections that a filter or a dialog offers. */
export const merchantConnectionsQuery = (merchantId: string, q?: string) =>
  read("/api/merchants/{id}/connections", {
    params: { ...pathOf(merchantId), query: { limit: 100, ...(q !== undefined && { q }) } },
  });

/** All products as a file for the browser to store. */
export const productsFile = (merchantId: string): string =>
  `/api/merchants/${encodeURIComponent(merchantId)}/products/export?format=xlsx`;
