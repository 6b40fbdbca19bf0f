import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

/** A stored recovery, as it stands (decision 0029). */
export type Recovery = {
  readonly merchantId: string;
  readonly connectionId: string;
  readonly id: string;
  readonly endpointId: string;
  /** Whether what was given up is sent again as well, not only what waits. */
  readonly includesFailed: boolean;
  readonly since: Date;
  readonly until: Date;
  /** The delivery up to which the present pass is done. */
  readonly position: string;
  readonly pass: 1 | 2;
};

/** Connections with recoveries that have something to do now. A scan over all shards. */
export async function listConnectionsWithRecoveries(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await db.query<ConnectionKeyRow>({
    name: "list-connections-with-recoveries",
    text: `
      select distinct merchant_id, connection_id
      from webhook_recoveries
      where finished_at is null and (pass = 1 or until <= $1)`,
    values: [now],
  });
  return rows.map(toConnectionKey);
}

/** Locks a connection's oldest recovery that no other worker has locked; null if there is none. */
export async function lockRecovery(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<Recovery | null> {
  const [row] = await tx.query<{
    id: string;
    endpoint_id: string;
    includes_failed: boolean;
    since: Date;
    until: Date;
    position: string;
    pass: 1 | 2;
  }>({
    name: "lock-recovery",
    text: `
      select id, endpoint_id, includes_failed, since, until, position, pass
      from webhook_recoveries
      where merchant_id = $1 and connection_id = $2 and finished_at is null and (pass = 1 or until <= $3)
      order by id
      limit 1
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, now],
  });
  if (row === undefined) return null;
  return {
    merchantId: connection.merchantId,
    connectionId: connection.connectionId,
    id: row.id,
    endpointId: row.endpoint_id,
    includesFailed: row.includes_failed,
    since: row.since,
    until: row.until,
    position: row.position,
    pass: row.pass,
  };
}

export async function saveRecovery(
  tx: Queryable,
  recovery: Recovery,
  finishedAt: Date | null,
): Promise<void> {
  await tx.query({
    name: "save-recovery",
    text: `
      update webhook_recoveries
      set position = $4, pass = $5, finished_at = $6
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [
      recovery.merchantId,
      recovery.connectionId,
      recovery.id,
      recovery.position,
      recovery.pass,
      finishedAt,
    ],
  });
}

type LoggedDelivery = { id: string; streamId: string; status: "pending" | "succeeded" | "failed" };

/**
 * The endpoint's deliveries after a recovery's position, by id, in any status, so that reading a page is never slow.
 */
export async function listDeliveriesAfter(
  tx: Queryable,
  recovery: Recovery,
  before: string,
  limit: number,
): Promise<LoggedDelivery[]> {
  const rows = await tx.query<{ id: string; stream_id: string; status: LoggedDelivery["status"] }>({
    name: "list-deliveries-after",
    text: `
      select id, stream_id, status
      from deliveries
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and id > $4 and id < $5
      order by id
      limit $6`,
    values: [
      recovery.merchantId,
      recovery.connectionId,
      recovery.endpointId,
      recovery.position,
      before,
      limit,
    ],
  });
  return rows.map((row) => ({ id: row.id, streamId: row.stream_id, status: row.status }));
}

/** Locks the heads of these streams, waiting if necessary. */
export async function lockHeads(
  tx: Queryable,
  recovery: Recovery,
  streamIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: "lock-heads",
    text: `
      select stream_id
      from due_deliveries
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and stream_id = any($4::uuid[])
      order by stream_id
      for update`,
    values: [recovery.merchantId, recovery.connectionId, recovery.endpointId, streamIds],
  });
}

/** Failed deliveries become pending again, if their events still exist and may still be sent; returns which. */
export async function reopenDeliveries(
  tx: Queryable,
  connection: ConnectionKey,
  deliveryIds: readonly string[],
  now: Date,
): Promise<string[]> {
  if (deliveryIds.length === 0) return [];
  const rows = await tx.query<{ id: string }>({
    name: "reopen-deliveries",
    text: `
      update deliveries d
      set status = 'pending'
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = any($3::uuid[]) and d.status = 'failed'
        and (d.not_after is null or d.not_after > $4)
        and exists (select from events e where e.merchant_id = $1 and e.id = d.event_id)
      returning d.id`,
    values: [connection.merchantId, connection.connectionId, deliveryIds, now],
  });
  return rows.map(({ id }) => id);
}

/**
 * Gives streams their heads: the first delivery that waits in each. A stream that has one keeps it, but its row is locked,
 * so that who takes it away sees what waits behind it.
 */
export async function restoreHeads(
  tx: Queryable,
  recovery: Recovery,
  streamIds: readonly string[],
  now: Date,
): Promise<void> {
  if (streamIds.length === 0) return;
  await tx.query({
    name: "restore-heads",
    text: `
      insert into due_deliveries (
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at, not_after)
      select $1, $2, $3, stream.id, head.id, head.event_id, 'recovery', 0, $5, head.not_after
      from unnest($4::uuid[]) as stream (id)
      cross join lateral (
        select d.id, d.event_id, d.not_after
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $3 and d.stream_id = stream.id and d.status = 'pending'
        order by d.sequence, d.id
        limit 1) as head
      order by stream.id
      on conflict (merchant_id, endpoint_id, stream_id) do update set is_followed = true`,
    values: [recovery.merchantId, recovery.connectionId, recovery.endpointId, streamIds, now],
  });
}

/** Whether the endpoint may be sent to. Holds it, so that no pause comes in between. */
export async function isActive(tx: Queryable, recovery: Recovery): Promise<boolean> {
  const rows = await tx.query({
    name: "share-active-endpoint",
    text: "select id from webhook_endpoints where merchant_id = $1 and connection_id = $2 and id = $3 and status = 'active' for share",
    values: [recovery.merchantId, recovery.connectionId, recovery.endpointId],
  });
  return rows.length > 0;
}
