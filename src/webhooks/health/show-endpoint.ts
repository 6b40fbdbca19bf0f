import type { Static } from "typebox";
import type { Context } from "../../platform/context.ts";
import { uuidAt } from "../../platform/ids.ts";
import {
  type Endpoint,
  type EndpointKey,
  type EndpointSchema,
  toWireEndpoint,
} from "../endpoints/endpoint.ts";
import { countLogged, readShownHealth } from "./shown-health-sql.ts";

type WireEndpoint = Static<typeof EndpointSchema>;

/** Reads the health of endpoints. Returns a function that shows them with it. */
export async function showEndpoints(
  { db, clock }: Context,
  endpoints: readonly Endpoint[],
): Promise<(endpoint: Endpoint) => WireEndpoint> {
  const health = await readShownHealth(db, endpoints);
  return (endpoint) => toWireEndpoint(endpoint, health.get(endpoint.id), clock.now());
}

export const showEndpoint = async (context: Context, endpoint: Endpoint): Promise<WireEndpoint> =>
  (await showEndpoints(context, [endpoint]))(endpoint);

/** Pending deliveries of an endpoint, or those that failed since a time. Null if there is too much to count. */
export const countPending = ({ db }: Context, endpoint: EndpointKey): Promise<number | null> =>
  countLogged(db, endpoint, uuidAt(new Date(0)), "pending");
export const countFailed = ({ db }: Context, endpoint: EndpointKey, since: Date): Promise<number | null> =>
  countLogged(db, endpoint, uuidAt(since), "failed");
