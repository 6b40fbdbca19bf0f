import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS } from "../../platform/retention.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { before, DAY_MS } from "../../platform/time.ts";
import {
  type Clearing,
  failPendingDeliveries,
  finishClearing,
  listClearings,
  lockClearing,
  removeHeads,
  saveClearing,
  shareStatus,
} from "./clearings-sql.ts";
import type { EndpointKey } from "./endpoint.ts";

/** Rows processed in one transaction. Few, so that streams are locked for a short time. */
const BATCH_SIZE = 1_000;

/**
 * Removes what is due at endpoints that were paused or deleted, and fails the pending deliveries of those that were
 * deleted (decision 0207). Returns how many batches it processed.
 */
export async function clearEndpoints(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listClearings(context.db)),
    (endpoint) => clearNextBatch(context, endpoint),
    stopping,
  );
}

/**
 * Processes a batch of an endpoint, and stores its position in the same transaction, so that after a crash another worker
 * continues there. Returns 0 if there is nothing to do.
 */
export function clearNextBatch(
  context: Context,
  endpoint: EndpointKey,
  batchSize = BATCH_SIZE,
): Promise<number> {
  return inTransaction(context, async (tx) => {
    // The endpoint is locked before its clearing, as by a pause.
    const status = await shareStatus(tx, endpoint);
    const clearing = await lockClearing(tx, endpoint);
    if (clearing === null) return 0;
    const isStopped = status === "paused" || status === "deleted";
    // An endpoint that was resumed sends what is left: the recovery makes it due at once.
    const next = isStopped ? await clearBatch(tx, endpoint, clearing, batchSize) : null;
    if (next !== null) await saveClearing(tx, endpoint, next);
    else if (status === "deleted" && clearing.part === "streams")
      await saveClearing(tx, endpoint, { part: "deliveries", position: oldestPending(context) });
    else await finishClearing(tx, endpoint);
    return 1;
  });
}

/** Returns how far the clearing is. Null at the end of its part. */
async function clearBatch(
  tx: Queryable,
  endpoint: EndpointKey,
  { part, position }: Clearing,
  batchSize: number,
): Promise<Clearing | null> {
  const process = part === "streams" ? removeHeads : failPendingDeliveries;
  const end = await process(tx, endpoint, position, batchSize);
  return end === null ? null : { part, position: end };
}

/** No older delivery is pending. */
const oldestPending = ({ clock }: Context): string => uuidAt(before(clock.now(), EVENTS_KEPT_MS + DAY_MS));
