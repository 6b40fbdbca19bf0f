import type { Queryable } from "../database/database.ts";
import { inOneStep, type Service } from "../service.ts";
import type { Endpoint } from "./endpoint.ts";
import { lockEndpoint, markEndpointDeleted } from "./endpoints-sql.ts";
import { deleteSecrets } from "./secrets-sql.ts";

type EndpointKey = Pick<Endpoint, "connectionId" | "id">;

/** Deliveries given up in one statement: an endpoint that was paused for days may have very many that wait. */
const BATCH_SIZE = 5_000;

/**
 * Deletes an endpoint; false when there is no such one. Nothing is sent to it any more, and what was to be sent is
 * given up. Its row and its deliveries stay for the log (decision 0029).
 */
export async function deleteEndpoint(service: Service, key: EndpointKey): Promise<boolean> {
  const deleted = await inOneStep(service, async (tx) => {
    const endpoint = await lockEndpoint(tx, key.connectionId, key.id);
    if (endpoint === null) return false;
    await markEndpointDeleted(tx, endpoint, service.clock.now());
    await deleteSecrets(tx, endpoint);
    await deleteDueDeliveries(tx, endpoint);
    return true;
  });
  if (!deleted) return false;
  while ((await giveUpPendingDeliveries(service.db, key)) > 0);
  return true;
}

async function deleteDueDeliveries(tx: Queryable, { connectionId, id }: EndpointKey): Promise<void> {
  await tx.query({
    name: "delete-due-deliveries-of-endpoint",
    text: "delete from due_deliveries where connection_id = $1 and endpoint_id = $2",
    values: [connectionId, id],
  });
}

/** Answers how many. Uses deliveries_lane_idx. */
async function giveUpPendingDeliveries(db: Queryable, { connectionId, id }: EndpointKey): Promise<number> {
  const rows = await db.query({
    name: "give-up-pending-deliveries",
    text: `
      update deliveries
      set status = 'failed'
      where connection_id = $1 and status = 'pending' and id in (
        select d.id
        from deliveries d
        where d.connection_id = $1 and d.endpoint_id = $2 and d.status = 'pending'
        limit $3)
      returning id`,
    values: [connectionId, id, BATCH_SIZE],
  });
  return rows.length;
}
