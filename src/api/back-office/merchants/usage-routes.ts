import type { Static } from "typebox";
import { type Connection, keyOf } from "../../../merchants/connection.ts";
import { countKeys } from "../../../merchants/keys-sql.ts";
import { type LimitName, maximumOf, STORED_LIMITS } from "../../../merchants/limits.ts";
import { countTestOrders } from "../../../orders/lists/count-test-orders-sql.ts";
import type { Context } from "../../../platform/context.ts";
import { before, HOUR_MS } from "../../../platform/time.ts";
import { notFound } from "../../../platform/wire/problems.ts";
import { countEndpoints, countEndpointsSince } from "../../../webhooks/endpoints/endpoints-sql.ts";
import { andMonitoring, andPartner, type BackOfficeRoute, everyone, route } from "../access.ts";
import { ConnectionIdParams, findConnection } from "../lookups.ts";
import { UsageSchema } from "./limit-schemas.ts";

export const usageRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/connections/{id}/usage",
    operationId: "getConnectionUsage",
    admits: andMonitoring(andPartner(everyone)),
    tag: "Connections",
    summary: "Get a connection's usage",
    description: "What the connection has stored of everything that has a limit, and the limits.",
    params: ConnectionIdParams,
    responses: { 200: { description: "The usage.", schema: UsageSchema } },
    problems: ["not-found"],
    handle: async ({ caller, params }, { context }) => {
      const connection = await findConnection(context, caller, params.id);
      return connection === null
        ? notFound("connection")
        : { status: 200, body: await readUsage(context, connection) };
    },
  }),
];

/** No count reads more rows than the limit allows, or allowed before it was lowered. */
async function readUsage(
  { db, clock }: Context,
  connection: Connection,
): Promise<Static<typeof UsageSchema>> {
  const key = keyOf(connection);
  const hourAgo = before(clock.now(), HOUR_MS);
  const use = async (name: LimitName, count?: (countMax: number) => Promise<number>) => {
    const maximum = maximumOf(connection.limits, name);
    return { used: (await count?.(Math.max(maximum, STORED_LIMITS[name].standard))) ?? null, maximum };
  };
  return {
    endpoints: await use("endpoints", (max) => countEndpoints(db, key, "live", max)),
    testEndpoints: await use("testEndpoints", (max) => countEndpoints(db, key, "test", max)),
    endpointCreationsPerHour: await use("endpointCreationsPerHour", async (max) =>
      Math.max(
        await countEndpointsSince(db, key, { mode: "live", since: hourAgo }, max),
        await countEndpointsSince(db, key, { mode: "test", since: hourAgo }, max),
      ),
    ),
    testOrders: await use("testOrders", async (max) => (await countTestOrders(db, [key], max))(key)),
    testOrderTransitions: await use("testOrderTransitions"),
    redeliveriesPerDay: await use("redeliveriesPerDay"),
    deliveryAttempts: await use("deliveryAttempts"),
    apiKeys: await use("apiKeys", (max) => countKeys(db, key, max)),
  };
}
