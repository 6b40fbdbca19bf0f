import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { deleteSecrets } from "../secrets/secrets-sql.ts";
import { requestClearing } from "./clearings-sql.ts";
import type { EndpointKey } from "./endpoint.ts";
import { endpointFact } from "./endpoint-fact.ts";
import { lockEndpoint, markEndpointDeleted } from "./endpoints-sql.ts";

/**
 * Deletes an endpoint. Nothing is sent to it any more, and a worker fails its pending deliveries. Its row and its
 * deliveries stay for the log (decision 0029). Returns false when there is no such endpoint.
 */
export async function deleteEndpoint(context: Context, key: EndpointKey, by: Initiator): Promise<boolean> {
  const deleted = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return false;
    const now = context.clock.now();
    await markEndpointDeleted(tx, endpoint, now);
    await deleteSecrets(tx, endpoint);
    await requestClearing(tx, endpoint, now);
    await recordAudit(tx, context, by, endpointFact(endpoint));
    return true;
  });
  // A worker may hold deliveries that it has claimed and not sent.
  if (deleted) context.signals.send("endpoints_changed", [key]);
  return deleted;
}
