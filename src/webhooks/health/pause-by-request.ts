import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Endpoint, EndpointKey } from "../endpoints/endpoint.ts";
import { endpointFact } from "../endpoints/endpoint-fact.ts";
import { lockEndpoint, readEndpoint } from "../endpoints/endpoints-sql.ts";
import { pauseEndpoint } from "./endpoint-health-sql.ts";

/**
 * Pauses an endpoint because the back office requests it. Its events stay in the log, and a resume sends them. A paused
 * endpoint is returned unchanged. Null when there is no such endpoint.
 */
export async function pauseByRequest(
  context: Context,
  key: EndpointKey,
  by: Initiator,
): Promise<Endpoint | null> {
  const paused = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    const isPaused = await pauseEndpoint(tx, endpoint, "requested", context.clock.now());
    if (isPaused) await recordAudit(tx, context, by, endpointFact(endpoint));
    return readEndpoint(tx, key, key.id);
  });
  // A worker may hold deliveries that it has claimed and not sent.
  if (paused !== null) context.signals.send("endpoints_changed", [key]);
  return paused;
}
