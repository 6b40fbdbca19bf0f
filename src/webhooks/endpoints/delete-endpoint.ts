import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import { deleteSecrets } from "../secrets/secrets-sql.ts";
import { deleteDueDeliveries, failPendingDeliveries } from "./delete-endpoint-sql.ts";
import type { EndpointKey } from "./endpoint.ts";
import { endpointFact } from "./endpoint-fact.ts";
import { lockEndpoint, markEndpointDeleted } from "./endpoints-sql.ts";

/** Deliveries read in one statement. An endpoint that was paused for days may have very many pending ones. */
const BATCH_SIZE = 5_000;

/**
 * Deletes an endpoint. Nothing is sent to it any more, and its pending deliveries fail. Its row and its deliveries stay
 * for the log (decision 0029). Returns false when there is no such endpoint.
 *
 * If the process ends before all pending deliveries have failed, the purge of the log fails the others when their
 * events expire.
 */
export async function deleteEndpoint(context: Context, key: EndpointKey, by: Initiator): Promise<boolean> {
  const deleted = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return false;
    await markEndpointDeleted(tx, endpoint, context.clock.now());
    await deleteSecrets(tx, endpoint);
    await deleteDueDeliveries(tx, endpoint);
    await recordAudit(tx, context, by, endpointFact(endpoint));
    return true;
  });
  if (!deleted) return false;
  context.signals.send("endpoints_changed", [key]);
  // No older delivery is pending.
  let position: string | null = uuidAt(before(context.clock.now(), EVENTS_KEPT_MS + DAY_MS));
  while (position !== null) position = await failPendingDeliveries(context.db, key, position, BATCH_SIZE);
  return true;
}
