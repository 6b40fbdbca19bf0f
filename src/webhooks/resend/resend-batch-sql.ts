import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS, DAY_MS } from "../../platform/time.ts";
import type { Resend, SkipReason } from "./resend.ts";

/** A delivery that was read. `fits`: it is to be sent again. */
export type ReadDelivery = { readonly id: string; readonly streamId: string; readonly fits: boolean };

const FITS = `($6::text is null or d.event_type = $6) and ($7::text is null or d.status = $7)`;
const readIn = (scope: string): string => `
      select d.id, d.stream_id as "streamId", (${FITS}) as fits
      from deliveries d
      where d.merchant_id = $1 and d.connection_id = $2 and d.id > $3 and d.id < $4 and ${scope}
      order by d.id
      limit $5`;

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
    ? db.query<ReadDelivery>({ name: "read-resend-period", text: readIn("true"), values })
    : db.query<ReadDelivery>({
        name: "read-resend-period-of-endpoint",
        text: readIn("d.endpoint_id = $8"),
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
                   limit $8) as made) >= $8 then 'limit_reached'
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
