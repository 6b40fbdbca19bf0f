import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS, DAY_MS } from "../../platform/time.ts";
import type { PagePosition } from "../../platform/wire/cursor.ts";
import type { DeliveryStatus } from "../log/delivery.ts";
import { COMMIT_ALLOWANCE_MS, type Resend, type Skipped, type SkipReason } from "./resend.ts";

type ResendRow = ConnectionKeyRow & {
  id: string;
  in_order: boolean;
  delivery_ids: string[] | null;
  since: Date | null;
  until: Date | null;
  endpoint_id: string | null;
  event_type: string | null;
  delivery_status: DeliveryStatus | null;
  total: number | null;
  position: string;
  sending: string[];
  is_read: boolean;
  succeeded_count: number;
  failed_count: number;
  returned_count: number;
  skipped: Skipped;
  created_at: Date;
  canceled_at: Date | null;
  finished_at: Date | null;
};

/** Stores a resend that keeps no order. For others see recovery-sql.ts. */
export async function insertResend(tx: Queryable, resend: Resend): Promise<void> {
  await tx.query({
    name: "insert-resend",
    text: `
      insert into webhook_resends (
        merchant_id, connection_id, id, delivery_ids, since, until, endpoint_id, event_type, delivery_status, total,
        position, created_at, in_order, sending, is_read, succeeded_count, failed_count, skipped)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, false, '{}', false, 0, 0, '{}')`,
    values: [
      resend.merchantId,
      resend.connectionId,
      resend.id,
      resend.deliveryIds,
      resend.since,
      resend.until,
      resend.endpointId,
      resend.eventType,
      resend.status,
      resend.total,
      resend.position,
      resend.createdAt,
    ],
  });
}

/** How many resends of a connection are not finished, at most `countMax`. Recoveries do not count. */
export async function countOpenResends(
  tx: Queryable,
  connection: ConnectionKey,
  countMax: number,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-open-resends",
    text: `
      select count(*)::integer as count
      from (
        select
        from webhook_resends
        where merchant_id = $1 and connection_id = $2 and finished_at is null and not in_order
        limit $3) as counted`,
    values: [connection.merchantId, connection.connectionId, countMax],
  });
  return row?.count ?? 0;
}

export async function readResend(
  db: Queryable,
  connection: ConnectionKey,
  id: string,
): Promise<Resend | null> {
  const [row] = await db.query<ResendRow>({
    name: "read-resend",
    text: `
      select merchant_id, connection_id, id, in_order, delivery_ids, since, until, endpoint_id, event_type, delivery_status,
             total, position, sending, is_read, succeeded_count, failed_count, returned_count, skipped,
             created_at, canceled_at, finished_at
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [connection.merchantId, connection.connectionId, id],
  });
  return row === undefined ? null : toResend(row);
}

/** Newest first. Returns one row more than the page if there is one. */
export async function listResends(
  db: Queryable,
  connection: ConnectionKey,
  { afterId, limit }: PagePosition,
): Promise<Resend[]> {
  const rows = await db.query<ResendRow>({
    name: "list-resends",
    text: `
      select merchant_id, connection_id, id, in_order, delivery_ids, since, until, endpoint_id, event_type, delivery_status,
             total, position, sending, is_read, succeeded_count, failed_count, returned_count, skipped,
             created_at, canceled_at, finished_at
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and id < $3
      order by id desc
      limit $4 + 1`,
    values: [connection.merchantId, connection.connectionId, afterId, limit],
  });
  return rows.map(toResend);
}

/** Cancels a resend that is not finished. Null if there is none, or if it was canceled before. */
export async function markResendCanceled(
  tx: Queryable,
  connection: ConnectionKey,
  id: string,
  now: Date,
): Promise<Resend | null> {
  const [row] = await tx.query<ResendRow>({
    name: "cancel-resend",
    text: `
      update webhook_resends
      set canceled_at = $4
      where merchant_id = $1 and connection_id = $2 and id = $3 and canceled_at is null and finished_at is null
        and not in_order
      returning merchant_id, connection_id, id, in_order, delivery_ids, since, until, endpoint_id, event_type,
                delivery_status, total, position, sending, is_read, succeeded_count, failed_count, returned_count,
                skipped, created_at, canceled_at, finished_at`,
    values: [connection.merchantId, connection.connectionId, id, now],
  });
  return row === undefined ? null : toResend(row);
}

/** Connections with resends that can be processed now. A scan over all shards. */
export async function listConnectionsWithResends(db: Queryable, now: Date): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-resends", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-resends",
      text: `
        select distinct merchant_id, connection_id
        from webhook_resends
        where finished_at is null and not (in_order and is_read and until > $1)
          and ($2::uuid[] is null or merchant_id = any($2))`,
      values: [before(now, COMMIT_ALLOWANCE_MS), merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/**
 * Locks the resends of a connection that can be processed now and that no other worker processes: those first for which an
 * endpoint waits that was down, then the oldest.
 */
export async function lockOpenResends(
  tx: Queryable,
  connection: ConnectionKey,
  now: Date,
): Promise<Resend[]> {
  const rows = await tx.query<ResendRow>({
    name: "lock-open-resends",
    text: `
      select merchant_id, connection_id, id, in_order, delivery_ids, since, until, endpoint_id, event_type, delivery_status,
             total, position, sending, is_read, succeeded_count, failed_count, returned_count, skipped,
             created_at, canceled_at, finished_at
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and finished_at is null and not (in_order and is_read and until > $3)
      order by in_order desc, id
      for update skip locked`,
    values: [connection.merchantId, connection.connectionId, before(now, COMMIT_ALLOWANCE_MS)],
  });
  return rows.map(toResend);
}

/** Stores how far a resend is. */
export async function saveResend(tx: Queryable, resend: Resend): Promise<void> {
  await tx.query({
    name: "save-resend",
    text: `
      update webhook_resends
      set position = $4, sending = $5, is_read = $6, succeeded_count = $7, failed_count = $8, skipped = $9, finished_at = $10,
          returned_count = $11
      where merchant_id = $1 and connection_id = $2 and id = $3`,
    values: [
      resend.merchantId,
      resend.connectionId,
      resend.id,
      resend.position,
      resend.sending,
      resend.isRead,
      resend.succeededCount,
      resend.failedCount,
      JSON.stringify(resend.skipped),
      resend.finishedAt,
      resend.returnedCount,
    ],
  });
}

/** Deletes resends that finished before a time. Returns how many. */
export async function deleteOldResends(
  db: Queryable,
  connection: ConnectionKey,
  logFrom: Date,
): Promise<number> {
  const rows = await db.query({
    name: "delete-old-resends",
    text: "delete from webhook_resends where merchant_id = $1 and connection_id = $2 and finished_at < $3 returning id",
    values: [connection.merchantId, connection.connectionId, logFrom],
  });
  return rows.length;
}

const toResend = (row: ResendRow): Resend => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
  id: row.id,
  isInOrder: row.in_order,
  deliveryIds: row.delivery_ids,
  since: row.since,
  until: row.until,
  endpointId: row.endpoint_id,
  eventType: row.event_type,
  status: row.delivery_status,
  total: row.total,
  position: row.position,
  sending: row.sending,
  isRead: row.is_read,
  succeededCount: row.succeeded_count,
  failedCount: row.failed_count,
  returnedCount: row.returned_count,
  skipped: row.skipped,
  createdAt: row.created_at,
  canceledAt: row.canceled_at,
  finishedAt: row.finished_at,
});

/** A delivery that was read. `fits`: it is to be sent again. */
export type ReadDelivery = { readonly id: string; readonly streamId: string; readonly fits: boolean };

/** The next deliveries of the period, whether they fit or not, so that a page is read quickly. */
export async function readPeriod(
  db: Queryable,
  resend: Pick<Resend, "merchantId" | "connectionId" | "endpointId" | "eventType" | "status" | "position">,
  beforeId: string,
  limit: number,
): Promise<ReadDelivery[]> {
  const { merchantId, connectionId, endpointId, eventType, status, position } = resend;
  const values = [merchantId, connectionId, position, beforeId, limit, eventType, status];
  return endpointId === null
    ? db.query<ReadDelivery>({
        name: "read-resend-period",
        text: `
          select d.id, d.stream_id as "streamId",
                 (($6::text is null or d.event_type = $6) and ($7::text is null or d.status = $7)) as fits
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.id > $3 and d.id < $4
          order by d.id
          limit $5`,
        values,
      })
    : db.query<ReadDelivery>({
        name: "read-resend-period-of-endpoint",
        text: `
          select d.id, d.stream_id as "streamId",
                 (($6::text is null or d.event_type = $6) and ($7::text is null or d.status = $7)) as fits
          from deliveries d
          where d.merchant_id = $1 and d.connection_id = $2 and d.id > $3 and d.id < $4 and d.endpoint_id = $8
          order by d.id
          limit $5`,
        values: [...values, endpointId],
      });
}

/** Those of the ids that are deliveries of the connection. */
export async function listKnownDeliveries(
  db: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  deliveryIds: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: "list-known-deliveries",
    text: "select id from deliveries where merchant_id = $1 and connection_id = $2 and id = any($3::uuid[])",
    values: [merchantId, connectionId, deliveryIds],
  });
  return rows.map(({ id }) => id);
}

/** Locks the endpoints of these deliveries, so that none is paused or deleted before the transaction ends. */
export async function shareEndpointsOf(
  tx: Queryable,
  { merchantId, connectionId }: Resend,
  deliveryIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: "share-endpoints-of-resend",
    text: `
      select w.id
      from webhook_endpoints w
      where w.merchant_id = $1 and w.connection_id = $2 and w.id in (
        select d.endpoint_id
        from deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.id = any($3::uuid[]))
      order by w.id
      for share`,
    values: [merchantId, connectionId, deliveryIds],
  });
}

/** The limits that the attempts of a delivery have. */
export type AttemptLimits = { readonly redeliveriesPerDay: number; readonly deliveryAttempts: number };

/**
 * Why each of these deliveries cannot be sent once more; null if it can. A delivery that is missing was erased. The attempts
 * are counted up to the limits, as for a redelivery by request.
 */
export async function whyNotSent(
  tx: Queryable,
  { merchantId, connectionId }: Resend,
  deliveryIds: readonly string[],
  limits: AttemptLimits,
  { now, oldestEventId }: { readonly now: Date; readonly oldestEventId: string },
): Promise<{ id: string; reason: SkipReason | null }[]> {
  return tx.query<{ id: string; reason: SkipReason | null }>({
    name: "why-not-resent",
    text: `
      select d.id,
             case
               when w.status = 'deleted' then 'endpoint_deleted'
               when w.status = 'paused' then 'endpoint_paused'
               when d.not_after <= $4 or d.event_id < $5
                 or not exists (select from events e where e.merchant_id = $1 and e.id = d.event_id) then 'event_expired'
               when (
                 select count(*)
                 from (
                   select
                   from attempts a
                   where a.merchant_id = $1 and a.delivery_id = d.id and a.id >= $6 and a.trigger = 'manual'
                   limit $7) as redelivered) >= $7 then 'limit_reached'
               when (
                 select count(*)
                 from (
                   select
                   from attempts a
                   where a.merchant_id = $1 and a.delivery_id = d.id and a.id >= $9
                   limit $8) as made) + (d.started_at is not null)::integer >= $8 then 'limit_reached'
             end as reason
      from deliveries d
      join webhook_endpoints w on w.merchant_id = $1 and w.id = d.endpoint_id
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = any($3::uuid[])`,
    values: [
      merchantId,
      connectionId,
      deliveryIds,
      now,
      oldestEventId,
      uuidAt(before(now, DAY_MS)),
      limits.redeliveriesPerDay,
      limits.deliveryAttempts,
      earliestAttemptId(deliveryIds),
    ],
  });
}

/** Deliveries have the time of their event in their id. It excludes the partitions of earlier attempts. */
function earliestAttemptId(deliveryIds: readonly string[]): string {
  const earliest = deliveryIds.toSorted()[0] ?? "";
  const ms = Number.parseInt(earliest.replaceAll("-", "").slice(0, 12), 16);
  return uuidAt(new Date(ms - CLOCK_SKEW_MAX_MS));
}

/**
 * Makes deliveries due, each in a stream of its own, so that it waits for no other. One that was made due by an earlier
 * request stays so, and is sent once.
 */
export async function insertResendsDue(
  tx: Queryable,
  { merchantId, connectionId }: Resend,
  deliveryIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.query({
    name: "insert-resends-due",
    text: `
      insert into due_deliveries (
        merchant_id, connection_id, endpoint_id, stream_id, delivery_id, event_id, trigger, attempt_count, due_at,
        not_after)
      select $1, $2, d.endpoint_id, d.id, d.id, d.event_id, 'manual', 0, $4, d.not_after
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.id = any($3::uuid[])
      order by d.endpoint_id, d.id
      on conflict (merchant_id, endpoint_id, stream_id) do nothing`,
    values: [merchantId, connectionId, deliveryIds, now],
  });
}

export type ResendOutcome = "sending" | "succeeded" | "failed" | "delivery_erased" | "not_sent";

/** What became of deliveries that were made due: the newest attempt by request since then says it. */
export async function readOutcomes(
  tx: Queryable,
  { merchantId, connectionId, sending, createdAt }: Resend,
): Promise<ResendOutcome[]> {
  const rows = await tx.query<{ outcome: ResendOutcome }>({
    name: "read-resend-outcomes",
    text: `
      select case
               when d.id is null then 'delivery_erased'
               when q.delivery_id is not null then 'sending'
               when made.id is null then 'not_sent'
               when made.error is null then 'succeeded'
               else 'failed'
             end as outcome
      from unnest($3::uuid[]) with ordinality as requested (id, number)
      left join deliveries d on d.merchant_id = $1 and d.connection_id = $2 and d.id = requested.id
      left join due_deliveries q on q.merchant_id = $1 and q.endpoint_id = d.endpoint_id and q.stream_id = d.id
        and q.delivery_id = d.id
      left join lateral (
        select a.id, a.error
        from attempts a
        where a.merchant_id = $1 and a.delivery_id = d.id and a.id >= $4 and a.trigger = 'manual'
        order by a.id desc
        limit 1) as made on true
      order by requested.number`,
    values: [merchantId, connectionId, sending, uuidAt(before(createdAt, CLOCK_SKEW_MAX_MS))],
  });
  return rows.map(({ outcome }) => outcome);
}
