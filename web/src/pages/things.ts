import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "../api/client.ts";
import { paths } from "../paths.ts";
import { folded } from "../text/folded.ts";

/** What a role or a filter names. */
export type ThingKind = "merchants" | "facilities" | "connections";

/** A merchant, facility or connection, as pickers and lists show it. */
type Thing = { readonly id: string; readonly name: string };

const FOUND_MAX = 20;
const FACILITIES_MAX = 100;
/** Names seldom change. */
const STALE_MS = 60_000;

const FIND: Record<ThingKind, (q: string) => Promise<Thing[]>> = {
  merchants: async (q) => {
    const query = { limit: FOUND_MAX, ...(q !== "" && { q }) };
    return (await dataOf(api.GET("/api/merchants", { params: { query } }))).data;
  },
  connections: async (q) => {
    const query = { limit: FOUND_MAX, ...(q !== "" && { q }) };
    const { data } = await dataOf(api.GET("/api/connections", { params: { query } }));
    return data.map(({ id, name, merchantName }) => ({ id, name: `${name} · ${merchantName}` }));
  },
  facilities: async (q) => {
    const query = { limit: FACILITIES_MAX };
    const { data } = await dataOf(api.GET("/api/facilities", { params: { query } }));
    return data.filter(({ name }) => folded(name).includes(folded(q)));
  },
};

const READ: Record<ThingKind, (id: string) => Promise<Thing>> = {
  merchants: (id) => dataOf(api.GET("/api/merchants/{id}", { params: { path: { id } } })),
  facilities: (id) => dataOf(api.GET("/api/facilities/{id}", { params: { path: { id } } })),
  connections: async (id) => {
    const { name, merchantName } = await dataOf(
      api.GET("/api/connections/{id}", { params: { path: { id } } }),
    );
    return { id, name: `${name} · ${merchantName}` };
  },
};

export const thingsQuery = (kind: ThingKind, q: string) =>
  queryOptions({ queryKey: ["things", kind, q], queryFn: () => FIND[kind](q), staleTime: STALE_MS });

export const thingQuery = (kind: ThingKind, id: string) =>
  queryOptions({
    queryKey: ["thing", kind, id],
    queryFn: () => READ[kind](id),
    staleTime: STALE_MS,
    retry: false,
  });

export const thingPath: Record<ThingKind, (id: string) => string> = {
  merchants: paths.merchant,
  facilities: paths.facility,
  connections: paths.connection,
};
