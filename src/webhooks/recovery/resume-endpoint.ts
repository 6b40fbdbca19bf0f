import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { after, MINUTE_MS } from "../../platform/time.ts";
import type { Endpoint, EndpointKey } from "../endpoints/endpoint.ts";
import { activateEndpoint, lockEndpoint } from "../endpoints/endpoints-sql.ts";

/**
 * Deliveries of transactions that have not committed yet are included, so a recovery covers a little more than its
 * request.
 */
const COMMIT_ALLOWANCE_MS = MINUTE_MS;

/**
 * Activates a paused endpoint, and sends its pending deliveries; an active one is returned unchanged. Null if there is
 * no such endpoint.
 */
export async function resumeEndpoint(context: Context, key: EndpointKey): Promise<Endpoint | null> {
  const resumed = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint?.status === "paused") return resumePaused(tx, endpoint, context);
    return endpoint;
  });
  if (resumed !== null) context.signals.send("deliveries_due", [key]);
  return resumed;
}

/** How far back a recovery may reach: as far as there are events. */
export const RECOVERY_MAX_MS = EVENTS_KEPT_MS;

type Recovery = { since: Date; until: Date };

/**
 * Has everything sent to an endpoint again that was given up since a moment, and resumes the endpoint if it is paused,
 * so that one call is enough after any outage. A worker does the work. Null when there is no such endpoint.
 */
export async function recoverEndpoint(
  context: Context,
  key: EndpointKey,
  since: Date,
): Promise<Recovery | null> {
  const recovery = await inTransaction(context, async (tx) => {
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (endpoint === null) return null;
    if (endpoint.status === "paused") await resumePaused(tx, endpoint, context);
    return insertRecovery(tx, endpoint, { since, includesFailed: true }, context);
  });
  if (recovery !== null) context.signals.send("deliveries_due", [key]);
  return recovery;
}

async function resumePaused(tx: Queryable, endpoint: Endpoint, context: Context): Promise<Endpoint> {
  const now = context.clock.now();
  await activateEndpoint(tx, endpoint, now);
  await insertRecovery(tx, endpoint, { since: endpoint.createdAt, includesFailed: false }, context);
  return { ...endpoint, status: "active", pauseReason: null, pausedAt: null, updatedAt: now };
}

async function insertRecovery(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  { since, includesFailed }: { since: Date; includesFailed: boolean },
  { clock, newId }: Context,
): Promise<Recovery> {
  const now = clock.now();
  const until = after(now, COMMIT_ALLOWANCE_MS);
  await tx.query({
    name: "insert-recovery",
    text: `
      insert into webhook_recoveries (
        merchant_id, connection_id, id, endpoint_id, includes_failed, since, until, position, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [merchantId, connectionId, newId(), id, includesFailed, since, until, uuidAt(since), now],
  });
  return { since, until };
}
