import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { EVENTS_KEPT_MS, LOG_KEPT_MS } from "../../platform/retention.ts";
import { eachUntilDone, runInTurn } from "../../platform/run-in-turn.ts";
import { before } from "../../platform/time.ts";
import { advanceStreams } from "../dispatch/record/complete-sql.ts";
import { deleteOldResends } from "../resend/resends-sql.ts";
import {
  deleteExpiredSecrets,
  deleteOldDeliveries,
  failExpiredInStreams,
  failExpiredOutsideStreams,
  listConnectionsWithOldLog,
  lockExpiredHeads,
} from "./retention-sql.ts";

/** Rows processed in one transaction. Few, so that it is short. */
const BATCH_SIZE = 500;

/**
 * Fails pending deliveries whose events are no longer kept, and deletes the rows of the log that are older than the
 * retention time (decision 0030). Returns how many rows it processed.
 */
export async function purgeDeliveryLog(context: Context, stopping?: AbortSignal): Promise<number> {
  const limits = limitsAt(context.clock.now());
  const connections = await listConnectionsWithOldLog(context.db, limits);
  return runInTurn(
    eachUntilDone(connections),
    (connection) => purgeBatch(context, connection, limits),
    stopping,
  );
}

type Limits = ReturnType<typeof limitsAt>;

const limitsAt = (now: Date) => ({
  now,
  /** Events with a lower id are no longer kept, and their deliveries are not sent. */
  eventsFrom: uuidAt(before(now, EVENTS_KEPT_MS)),
  logFrom: before(now, LOG_KEPT_MS),
  logFromId: uuidAt(before(now, LOG_KEPT_MS)),
});

async function purgeBatch(context: Context, connection: ConnectionKey, limits: Limits): Promise<number> {
  const { db } = context;
  const expired = await inTransaction(context, (tx) => expireStreams(tx, connection, limits));
  if (expired.hasNewHeads) context.signals.send("deliveries_due", [connection]);
  return (
    expired.count +
    (await failExpiredOutsideStreams(db, connection, limits.eventsFrom, BATCH_SIZE)) +
    (await deleteOldDeliveries(db, connection, limits.logFromId, BATCH_SIZE)) +
    (await deleteExpiredSecrets(db, connection, limits.now)) +
    (await deleteOldResends(db, connection, limits.logFrom))
  );
}

/** Removes expired heads. The next delivery of the stream that can be sent becomes the head. */
async function expireStreams(
  tx: Queryable,
  connection: ConnectionKey,
  { now, eventsFrom }: Limits,
): Promise<{ count: number; hasNewHeads: boolean }> {
  const heads = await lockExpiredHeads(tx, connection, { now, eventsFrom, limit: BATCH_SIZE });
  if (heads.length === 0) return { count: 0, hasNewHeads: false };
  await failExpiredInStreams(tx, connection, heads, eventsFrom);
  const ended = heads.map((head) => ({ ...head, ...connection, continues: head.endpointIsActive }));
  const advanced = await advanceStreams(tx, ended, now);
  return { count: heads.length, hasNewHeads: advanced.length > 0 };
}
