import { read } from "../../api/read.ts";
import type { paths } from "../../api/schema.d.ts";

type PeopleFilters = NonNullable<paths["/api/people"]["get"]["parameters"]["query"]>;

/** @param filters as in the address of the list */
export const peopleQuery = (filters: PeopleFilters) =>
  read("/api/people", { params: { query: { limit: 50, ...filters } } });

export const personQuery = (id: string) => read("/api/people/{id}", { params: { path: { id } } });

export const personSessionsQuery = (id: string) =>
  read("/api/people/{id}/sessions", { params: { path: { id } } });

type TokenFilters = NonNullable<paths["/api/tokens"]["get"]["parameters"]["query"]>;

/** @param filters as in the address of the list */
export const tokensQuery = (filters: TokenFilters) =>
  read("/api/tokens", { params: { query: { limit: 50, ...filters } } });

export const tokenQuery = (id: string) => read("/api/tokens/{id}", { params: { path: { id } } });
