import { amongMerchants } from "../../distribution/among-merchants.ts";
import { searchReachable } from "../../distribution/reachable-merchants.ts";
import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import { isRecoverable } from "../conditions-sql.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";

/** A stored request to send deliveries of an endpoint again (decision 0029). */
export type Recovery = ConnectionKey & {
  readonly id: string;
  readonly endpointId: string;
  /** Whether failed deliveries are sent again, not only pending ones. */
  readonly includesFailed: boolean;
  /** Covers deliveries created from this time on, */
  readonly since: Date;
  /** and before this time. */
  readonly until: Date;
  /** The delivery up to which the current pass has been processed. */
  readonly position: string;
  readonly pass: 1 | 2;
};

type RecoveryRow = {
  id: string;
  endpoint_id: string;
  includes_failed: boolean;
  since: Date;
  until: Date;
  position: string;
  pass: 1 | 2;
};

/**
 * Locks the open recoveries of an endpoint, at most one of each kind. Called before the endpoint is locked: a worker that
 * processes a recovery locks the recovery first, too.
 */
export async function lockOpenRecoveries(tx: Queryable, endpoint: EndpointKey): Promise<Recovery[]> {
  const rows = await tx.query<RecoveryRow>({
    name: "lock-open-recoveries",
    text: `
      select id, endpoint_id, includes_failed, since, until, position, pass
      from webhook_recoveries
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and finished_at is null
      order by id
      for update`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
  return rows.map((row) => toRecovery(endpoint, row));
}

/** Stores a recovery in the place of the endpoint's earlier one of the same kind, which is finished or part of it. */
export async function putRecovery(tx: Queryable, recovery: Recovery, now: Date): Promise<void> {
  await tx.query({
    name: "put-recovery",
    text: `
      insert into webhook_recoveries (
        merchant_id, connection_id, id, endpoint_id, includes_failed, since, until, position, pass, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (merchant_id, endpoint_id, includes_failed) do update
      set id = excluded.id, since = excluded.since, until = excluded.until, position = excluded.position,
          pass = excluded.pass, finished_at = null,
          created_at = case
            when webhook_recoveries.finished_at is null then webhook_recoveries.created_at else excluded.created_at end`,
    values: [
      recovery.merchantId,
      recovery.connectionId,
      recovery.id,
      recovery.endpointId,
      recovery.includesFailed,
      recovery.since,
      recovery.until,
      recovery.position,
      recovery.pass,
      now,
    ],
  });
}

/** Connections with recoveries that can be processed now. A scan over all shards. */
export async function listConnectionsWithRecoveries(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-recoveries", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-recoveries",
      text: `
        select distinct merchant_id, connection_id
        from webhook_recoveries
        where ${isRecoverable("$1")} and ${amongMerchants("$2", "merchant_id")}`,
      values: [now, merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** Locks the oldest recovery of a connection that no other worker processes. Null when there is none. */
export async function lockRecovery(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<Recovery | null> {
  const [row] = await tx.query<RecoveryRow>({
    name: "lock-recovery",
    text: `
      select id, endpoint_id, includes_failed, since, until, position, pass
      from webhook_recoveries
      where merchant_id = $1 and connection_id = $2 and ${isRecoverable("$3")}
      order by id
      limit 1
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, now],
  });
  return row === undefined ? null : toRecovery(connection, row);
}

const toRecovery = ({ merchantId, connectionId }: ConnectionKey, row: RecoveryRow): Recovery => ({
  merchantId,
  connectionId,
  id: row.id,
  endpointId: row.endpoint_id,
  includesFailed: row.includes_failed,
  since: row.since,
  until: row.until,
  position: row.position,
  pass: row.pass,
});

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

/** The deliveries of the endpoint after the position of a recovery, of any status, so that a page is read quickly. */
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

/** Locks the heads of these streams, after waiting for the transactions that have locked them. */
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

/**
 * Makes failed deliveries with fewer than `attemptsMax` attempts pending again, if their events are still kept and may
 * still be sent. Returns their ids.
 */
export async function reopenDeliveries(
  tx: Queryable,
  recovery: Recovery,
  deliveryIds: readonly string[],
  attemptsMax: number,
  now: Date,
): Promise<string[]> {
  const attemptsFrom = before(recovery.since, CLOCK_SKEW_MAX_MS); // No older delivery is reopened.
  if (deliveryIds.length === 0) return [];
  const rows = await tx.query<{ id: string }>({
    name: "reopen-deliveries",
    text: `
      update deliveries d
      set status = 'pending'
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = any($3::uuid[]) and d.status = 'failed'
        and (d.not_after is null or d.not_after > $4)
        and exists (select from events e where e.merchant_id = $1 and e.id = d.event_id)
        and $6 > (
          select count(*)
          from (
            select
            from attempts a
            where a.merchant_id = $1 and a.delivery_id = d.id and a.id >= $5
            limit $6) as made)
      returning d.id`,
    values: [recovery.merchantId, recovery.connectionId, deliveryIds, now, uuidAt(attemptsFrom), attemptsMax],
  });
  return rows.map(({ id }) => id);
}

/** An existing head is not changed: this is no resume ($6), or an attempt is in progress, or it is new and due. */
const IS_KEPT = `(not $6 or due_deliveries.claim_id is not null
            or (due_deliveries.attempt_count = 0 and due_deliveries.due_at <= $5))`;

/**
 * Gives streams heads: the first pending delivery of each. A stream that has a head keeps it, but the head is marked as
 * followed, so that the transaction that removes it looks for the next one. After a resume it may have it from before the
 * pause (decision 0207): then it is made due at once, like those that are restored.
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
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
        not_after)
      select head.merchant_id, $2, $3, stream.id, head.id, head.event_id, 'recovery', 0, $5, head.not_after
      from unnest($4::uuid[]) as stream (id)
      cross join lateral (
        select d.merchant_id, d.id, d.event_id, d.not_after
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $3 and d.stream_id = stream.id
          and d.status = 'pending'
        order by d.sequence, d.id
        limit 1) as head
      order by stream.id
      on conflict (merchant_id, endpoint_id, stream_id) do update
      set is_followed = true,
          trigger = case when ${IS_KEPT} then due_deliveries.trigger else excluded.trigger end,
          attempt_count = case when ${IS_KEPT} then due_deliveries.attempt_count else excluded.attempt_count end,
          due_at = case when ${IS_KEPT} then due_deliveries.due_at else excluded.due_at end`,
    values: [
      recovery.merchantId,
      recovery.connectionId,
      recovery.endpointId,
      streamIds,
      now,
      !recovery.includesFailed && recovery.pass === 1,
    ],
  });
}

/** Whether the endpoint is active. It is locked, so that it cannot be paused before the transaction ends. */
export async function isActive(tx: Queryable, recovery: Recovery): Promise<boolean> {
  const rows = await tx.query({
    name: "share-active-endpoint",
    text: `
      select id
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3 and status = 'active'
      for share`,
    values: [recovery.merchantId, recovery.connectionId, recovery.endpointId],
  });
  return rows.length > 0;
}
