import { read } from "../../api/read.ts";

const pathOf = (id: string) => ({ path: { id } });

/** @param filters as in the address of the list */
export const connectionsQuery = (filters: { q?: string | undefined; cursor?: string | undefined }) =>
  read("/api/connections", { params: { query: { limit: 50, ...filters } } });

export const connectionQuery = (id: string) => read("/api/connections/{id}", { params: pathOf(id) });

/** A connection has few keys: those that are valid come first. */
export const connectionKeysQuery = (id: string) =>
  read("/api/connections/{id}/keys", { params: { ...pathOf(id), query: { limit: 100 } } });

/** The newest runs, with their reports. */
export const certificationsQuery = (id: string) =>
  read("/api/connections/{id}/certifications", { params: { ...pathOf(id), query: { limit: 20 } } });
