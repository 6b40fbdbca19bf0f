import type { Queryable } from "../../platform/database/database.ts";

/** A stored recovery, as it stands (decision 0029). */
export type Recovery = {
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
export async function listConnectionsWithRecoveries(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.query<{ connection_id: string }>({
    name: "list-connections-with-recoveries",
    text: `
      select distinct connection_id
      from webhook_recoveries
      where finished_at is null and (pass = 1 or until <= $1)`,
    values: [now],
  });
  return rows.map((row) => row.connection_id);
}

/** Takes a connection's oldest recovery that nobody else is at; null when there is none. */
export async function lockRecovery(tx: Queryable, connectionId: string, now: Date): Promise<Recovery | null> {
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
      where connection_id = $1 and finished_at is null and (pass = 1 or until <= $2)
      order by id
      limit 1
      for update skip locked`,
    values: [connectionId, now],
  });
  if (row === undefined) return null;
  return {
    connectionId,
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
      set position = $3, pass = $4, finished_at = $5
      where connection_id = $1 and id = $2`,
    values: [recovery.connectionId, recovery.id, recovery.position, recovery.pass, finishedAt],
  });
}

type LoggedDelivery = { id: string; streamId: string; status: "pending" | "succeeded" | "failed" };

/** The endpoint's deliveries after a recovery's position, by id, whatever became of them: so that a page is never long. */
export async function listDeliveriesAfter(
  tx: Queryable,
  { connectionId, endpointId, position }: Recovery,
  before: string,
  limit: number,
): Promise<LoggedDelivery[]> {
  const rows = await tx.query<{ id: string; stream_id: string; status: LoggedDelivery["status"] }>({
    name: "list-deliveries-after",
    text: `
      select id, stream_id, status
      from deliveries
      where connection_id = $1 and endpoint_id = $2 and id > $3 and id < $4
      order by id
      limit $5`,
    values: [connectionId, endpointId, position, before, limit],
  });
  return rows.map((row) => ({ id: row.id, streamId: row.stream_id, status: row.status }));
}

/** Waits for whoever is at the heads of these streams, and holds them. */
export async function lockHeads(
  tx: Queryable,
  { connectionId, endpointId }: Recovery,
  streamIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: "lock-heads",
    text: `
      select stream_id
      from due_deliveries
      where connection_id = $1 and endpoint_id = $2 and stream_id = any($3::uuid[])
      order by stream_id
      for update`,
    values: [connectionId, endpointId, streamIds],
  });
}

/** Failed deliveries wait again, if their events are still there and may still be sent; answers which. */
export async function reopenDeliveries(
  tx: Queryable,
  connectionId: string,
  deliveryIds: readonly string[],
  now: Date,
): Promise<string[]> {
  if (deliveryIds.length === 0) return [];
  const rows = await tx.query<{ id: string }>({
    name: "reopen-deliveries",
    text: `
      update deliveries d
      set status = 'pending'
      where d.connection_id = $1 and d.id = any($2::uuid[]) and d.status = 'failed'
        and (d.not_after is null or d.not_after > $3)
        and exists (select from events e where e.connection_id = $1 and e.id = d.event_id)
      returning d.id`,
    values: [connectionId, deliveryIds, now],
  });
  return rows.map(({ id }) => id);
}

/**
 * Gives streams their heads: the first delivery that waits in each. A stream that has one keeps it, but its row is locked,
 * so that who takes it away sees what waits behind it.
 */
export async function restoreHeads(
  tx: Queryable,
  { connectionId, endpointId }: Recovery,
  streamIds: readonly string[],
  now: Date,
): Promise<void> {
  if (streamIds.length === 0) return;
  await tx.query({
    name: "restore-heads",
    text: `
      insert into due_deliveries (
        connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at, not_after)
      select $1, $2, stream.id, head.id, head.event_id, 'recovery', 0, $4, head.not_after
      from unnest($3::uuid[]) as stream (id)
      cross join lateral (
        select d.id, d.event_id, d.not_after
        from deliveries d
        where d.connection_id = $1 and d.endpoint_id = $2 and d.stream_id = stream.id and d.status = 'pending'
        order by d.sequence, d.id
        limit 1) as head
      order by stream.id
      on conflict (connection_id, endpoint_id, stream_id) do update set is_followed = true`,
    values: [connectionId, endpointId, streamIds, now],
  });
}

/** Whether the endpoint may be sent to. Holds it, so that no pause comes in between. */
export async function isActive(tx: Queryable, { connectionId, endpointId }: Recovery): Promise<boolean> {
  const rows = await tx.query({
    name: "share-active-endpoint",
    text: "select id from webhook_endpoints where connection_id = $1 and id = $2 and status = 'active' for share",
    values: [connectionId, endpointId],
  });
  return rows.length > 0;
}
