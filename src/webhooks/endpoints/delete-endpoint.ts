import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import { deleteSecrets } from "../secrets/secrets-sql.ts";
import type { EndpointKey } from "./endpoint.ts";
import { lockEndpoint, markEndpointDeleted } from "./endpoints-sql.ts";

/** Deliveries read in one statement: an endpoint that was paused for days may have very many pending ones. */
const BATCH_SIZE = 5_000;

/**
 * Deletes an endpoint; false when there is no such one. Nothing is sent to it any more, and what was to be sent is
 * given up. Its row and its deliveries stay for the log (decision 0029).
 */
export async function deleteEndpoint(context: Context, key: EndpointKey): Promise<boolean> {
  const deleted = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return false;
    await markEndpointDeleted(tx, endpoint, context.clock.now());
    await deleteSecrets(tx, endpoint);
    await deleteDueDeliveries(tx, endpoint);
    return true;
  });
  if (!deleted) return false;
  context.signals.send("endpoints_changed", [key]);
  let position = uuidAt(before(context.clock.now(), EVENTS_KEPT_MS + DAY_MS)); // Nothing older waits.
  for (;;) {
    const next = await giveUpPendingDeliveries(context.db, key, position);
    if (next === null) return true;
    position = next;
  }
}

/** What is under way ends by its own outcome. */
async function deleteDueDeliveries(tx: Queryable, { merchantId, id }: EndpointKey): Promise<void> {
  await tx.query({
    name: "delete-due-deliveries-of-endpoint",
    text: "delete from due_deliveries where merchant_id = $1 and endpoint_id = $2 and claim_id is null",
    values: [merchantId, id],
  });
}

/** Reads a batch of deliveries after a position, in any status; returns where it ended, null at the end. */
async function giveUpPendingDeliveries(
  db: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  position: string,
): Promise<string | null> {
  const rows = await db.query<{ id: string }>({
    name: "give-up-pending-deliveries",
    text: `
      with page as materialized (
        select d.id, d.status, exists (
                 select from due_deliveries q
                 where q.merchant_id = $1 and q.endpoint_id = $2 and q.stream_id = d.stream_id and q.delivery_id = d.id
               ) as is_under_way
        from deliveries d
        where d.merchant_id = $1 and d.endpoint_id = $2 and d.id > $3
        order by d.id
        limit $4
      ), given_up as (
        update deliveries d
        set status = 'failed'
        from page p
        where d.merchant_id = $1 and d.connection_id = $5 and d.id = p.id and p.status = 'pending' and d.status = 'pending' and not p.is_under_way
      )
      select id from page order by id desc limit 1`,
    values: [merchantId, id, position, BATCH_SIZE, connectionId],
  });
  return rows[0]?.id ?? null;
}
