import { read } from "../../api/read.ts";

export const merchantsQuery = (filters: { q?: string | undefined; cursor?: string | undefined }) =>
  read("/api/merchants", { params: { query: { limit: 50, ...filters } } });

export const merchantQuery = (id: string) => read("/api/merchants/{id}", { params: { path: { id } } });

export const merchantConnectionsQuery = (
  id: string,
  filters: { q?: string | undefined; cursor?: string | undefined },
) =>
  read("/api/merchants/{id}/connections", {
    params: { path: { id }, query: { limit: 50, ...filters } },
  });

type StockFilters = {
  readonly q?: string | undefined;
  readonly available?: boolean | undefined;
  readonly cursor?: string | undefined;
};

export const merchantStockQuery = (id: string, filters: StockFilters) =>
  read("/api/merchants/{id}/stock", { params: { path: { id }, query: { limit: 50, ...filters } } });
