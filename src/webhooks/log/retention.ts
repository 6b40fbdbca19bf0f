import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { eachUntilDone, runInTurn } from "../../platform/run-in-turn.ts";
import { before, EVENTS_KEPT_MS, LOG_KEPT_MS } from "../../platform/time.ts";
import { advanceStreams } from "../delivery/complete-deliveries.ts";
import { deleteOldResends } from "../resend/resends-sql.ts";

/** Rows processed in one transaction. Few, so that it is short. */
const BATCH_SIZE = 500;

/**
 * Fails pending deliveries whose events are no longer kept, and deletes the rows of the log that are older than the retention
 * time (docs/design/database.md, "Retention"). Returns how many rows it processed.
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

/** Connections with rows to purge. A scan over all shards; each condition uses an index or a small table. */
async function listConnectionsWithOldLog(
  db: Queryable,
  {
    now,
    eventsFrom,
    logFrom,
    logFromId,
  }: { now: Date; eventsFrom: string; logFrom: Date; logFromId: string },
): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-old-log", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-old-log",
      text: `
        select o.merchant_id, o.connection_id
        from webhook_owners o
        where ($5::uuid[] is null or o.merchant_id = any($5)) and (exists (
            select from deliveries d
            where d.merchant_id = o.merchant_id and ($5::uuid[] is null or d.merchant_id = any($5))
              and d.connection_id = o.connection_id and d.id < $4)
           or exists (
            select from deliveries d
            where d.merchant_id = o.merchant_id and ($5::uuid[] is null or d.merchant_id = any($5))
              and d.connection_id = o.connection_id and d.status = 'pending' and d.id < $2)
           or exists (
            select from due_deliveries d
            where d.merchant_id = o.merchant_id and ($5::uuid[] is null or d.merchant_id = any($5))
              and d.connection_id = o.connection_id and d.event_id < $2)
           or exists (
            select from webhook_secrets s
            where s.merchant_id = o.merchant_id and ($5::uuid[] is null or s.merchant_id = any($5))
              and s.connection_id = o.connection_id and s.expires_at <= $1)
           or exists (
            select from webhook_resends r
            where r.merchant_id = o.merchant_id and ($5::uuid[] is null or r.merchant_id = any($5))
              and r.connection_id = o.connection_id and r.finished_at < $3))
        order by o.connection_id`,
      values: [now, eventsFrom, logFrom, logFromId, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** The head of a stream whose event is no longer kept. */
type ExpiredHead = {
  readonly endpointId: string;
  readonly streamId: string;
  readonly deliveryId: string;
  readonly claimId: string | null;
  readonly endpointIsActive: boolean;
};

/** Locks streams whose head is too old to be sent, except for attempts in progress. */
async function lockExpiredHeads(
  tx: Queryable,
  connection: ConnectionKey,
  { now, eventsFrom, limit }: { now: Date; eventsFrom: string; limit: number },
): Promise<ExpiredHead[]> {
  const rows = await tx.query<{
    endpoint_id: string;
    stream_id: string;
    delivery_id: string;
    claim_id: string | null;
    endpoint_is_active: boolean;
  }>({
    name: "lock-expired-heads",
    text: `
      select d.endpoint_id, d.stream_id, d.delivery_id, d.claim_id, w.status = 'active' as endpoint_is_active
      from due_deliveries d
      join webhook_endpoints w on w.merchant_id = $1 and w.connection_id = $2 and w.id = d.endpoint_id
      where d.merchant_id = $1 and d.connection_id = $2 and d.event_id < $3
        and (d.leased_until is null or d.leased_until <= $4)
      order by d.endpoint_id, d.stream_id
      limit $5
      for update of d skip locked`,
    values: [connection.merchantId, connection.connectionId, eventsFrom, now, limit],
  });
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    streamId: row.stream_id,
    deliveryId: row.delivery_id,
    claimId: row.claim_id,
    endpointIsActive: row.endpoint_is_active,
  }));
}

/** Fails the pending deliveries of these streams that are too old to be sent, including the heads. */
async function failExpiredInStreams(
  tx: Queryable,
  connection: ConnectionKey,
  heads: readonly ExpiredHead[],
  eventsFrom: string,
): Promise<void> {
  await tx.query({
    name: "fail-expired-in-streams",
    text: `
      update deliveries d
      set status = 'failed'
      from unnest($3::uuid[], $4::uuid[], $5::uuid[]) as head (endpoint_id, stream_id, delivery_id)
      where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = head.endpoint_id
        and d.status = 'pending' and d.id < $6
        and (d.stream_id = head.stream_id or d.id = head.delivery_id)`,
    values: [
      connection.merchantId,
      connection.connectionId,
      heads.map(({ endpointId }) => endpointId),
      heads.map(({ streamId }) => streamId),
      heads.map(({ deliveryId }) => deliveryId),
      eventsFrom,
    ],
  });
}

/**
 * Fails a batch of pending deliveries that are too old to be sent and have no head in their stream, as after a long
 * pause. Returns how many.
 */
async function failExpiredOutsideStreams(
  db: Queryable,
  connection: ConnectionKey,
  eventsFrom: string,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "fail-expired-outside-streams",
    text: `
      update deliveries
      set status = 'failed'
      where merchant_id = $1 and connection_id = $2 and id in (
        select d.id
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.status = 'pending' and d.id < $3
          and not exists (
            select from due_deliveries h
            where h.merchant_id = $1 and h.connection_id = $2 and h.endpoint_id = d.endpoint_id
              and h.stream_id in (d.stream_id, d.id))
        order by d.id
        limit $4
        for update skip locked -- Rows that another transaction changes are left to the next batch.
      )
      returning id`,
    values: [connection.merchantId, connection.connectionId, eventsFrom, limit],
  });
  return rows.length;
}

/** Deletes a batch of finished deliveries from before a time. Returns how many. */
async function deleteOldDeliveries(
  db: Queryable,
  connection: ConnectionKey,
  logFromId: string,
  limit: number,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-deliveries",
    text: `
      delete from deliveries
      where merchant_id = $1 and connection_id = $2 and id in (
        select d.id
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.id < $3 and d.status <> 'pending'
        order by d.id
        limit $4
        for update skip locked
      )
      returning id`,
    values: [connection.merchantId, connection.connectionId, logFromId, limit],
  });
  return rows.length;
}

/** Deletes expired signing secrets. Returns how many. */
async function deleteExpiredSecrets(db: Queryable, connection: ConnectionKey, now: Date): Promise<number> {
  const rows = await db.query({
    name: "delete-expired-secrets",
    text: "delete from webhook_secrets where merchant_id = $1 and connection_id = $2 and expires_at <= $3 returning id",
    values: [connection.merchantId, connection.connectionId, now],
  });
  return rows.length;
}
