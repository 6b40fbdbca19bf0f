import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import {
  isActive,
  listConnectionsWithRecoveries,
  listDeliveriesAfter,
  lockHeads,
  lockRecovery,
  type Recovery,
  reopenDeliveries,
  restoreHeads,
  saveRecovery,
} from "./recovery-sql.ts";

/** Deliveries processed in one transaction. Small, so that streams are locked for a short time. */
const BATCH_SIZE = 1_000;

/** Processes the recoveries that partners requested. Returns about how many deliveries are due again. */
export async function recoverDeliveries(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listConnectionsWithRecoveries(context.db, context.clock.now())),
    (connection) => recoverNextBatch(context, connection),
    stopping,
  );
}

/**
 * Processes a batch of the oldest recovery of a connection. Returns 0 if there is nothing to do. A recovery pages
 * through the deliveries of the endpoint by id and stores its position in the same transaction, so that after a crash
 * it resumes at that position.
 *
 * It makes two passes. Transactions that began before the endpoint was resumed saw it paused and wrote no heads for
 * their deliveries. All of them have ended when the second pass begins.
 */
export async function recoverNextBatch(context: Context, connection: ConnectionKey): Promise<number> {
  const done = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const recovery = await lockRecovery(tx, connection, now);
    return recovery === null ? 0 : recoverBatch(tx, recovery, now);
  });
  if (done > 0) context.signals.send("deliveries_due", [connection]);
  return done;
}

async function recoverBatch(tx: Queryable, recovery: Recovery, now: Date): Promise<number> {
  if (!(await isActive(tx, recovery))) {
    await saveRecovery(tx, recovery, now); // Paused again or deleted. Another resume requests another recovery.
    return 1;
  }
  const page = await listDeliveriesAfter(tx, recovery, uuidAt(recovery.until), BATCH_SIZE);
  const failed = page.filter(({ status }) => status === "failed").map(({ id }) => id);
  const isReopening = recovery.includesFailed && recovery.pass === 1;
  // First, so that the statements after it see the current heads of the streams.
  await lockHeads(tx, recovery, [...new Set(page.map(({ streamId }) => streamId))]);
  const reopened = new Set(await reopen(tx, recovery, isReopening ? failed : [], now));
  const waiting = page.filter(({ id, status }) => status === "pending" || reopened.has(id));
  await restoreHeads(tx, recovery, [...new Set(waiting.map(({ streamId }) => streamId))], now);
  const last = page.at(-1);
  if (page.length === BATCH_SIZE && last !== undefined)
    await saveRecovery(tx, { ...recovery, position: last.id }, null);
  else if (recovery.pass === 1)
    await saveRecovery(tx, { ...recovery, position: uuidAt(recovery.since), pass: 2 }, null);
  else await saveRecovery(tx, recovery, now);
  return 1 + waiting.length;
}

/** Deliveries with as many attempts as the log keeps stay as they are. */
async function reopen(
  tx: Queryable,
  recovery: Recovery,
  deliveryIds: readonly string[],
  now: Date,
): Promise<string[]> {
  if (deliveryIds.length === 0) return [];
  const overridesOf = await readLimitOverrides(tx, [recovery]);
  return reopenDeliveries(
    tx,
    recovery,
    deliveryIds,
    maximumOf(overridesOf(recovery), "deliveryAttempts"),
    now,
  );
}
