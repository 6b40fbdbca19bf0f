import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { OrderedResend } from "./resend.ts";

/**
 * Locks the open resends of an endpoint that keep the order. Called before the endpoint is locked: a worker that processes a
 * resend locks the resend first, too.
 */
export async function lockOpenRecoveries(tx: Queryable, endpoint: EndpointKey): Promise<void> {
  await tx.query({
    name: "lock-open-recoveries",
    text: `
      select id
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and in_order and finished_at is null
      order by id
      for update`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
}

type RequestedRecovery = Pick<OrderedResend, "id" | "status" | "since" | "until" | "createdAt">;

/**
 * Stores a resend that keeps the order, in place of the endpoint's earlier one of the same status. An open one becomes part of
 * it: the earliest `since` wins. A pause removes heads anywhere, so a resume starts again. A resend of what failed continues at
 * its position if it covers the request. Returns the period. By webhook_resends_in_order_key.
 */
export async function putRecovery(
  tx: Queryable,
  endpoint: EndpointKey,
  { id, status, since, until, createdAt }: RequestedRecovery,
): Promise<Pick<OrderedResend, "since" | "until">> {
  const [row] = await tx.query<{ since: Date; until: Date }>({
    name: "put-recovery",
    text: `
      insert into webhook_resends (
        merchant_id, connection_id, id, endpoint_id, delivery_status, since, until, position, created_at, in_order, sending,
        is_read, succeeded_count, failed_count, skipped)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, true, '{}', false, 0, 0, '{}')
      on conflict (merchant_id, endpoint_id, delivery_status) where in_order do update
      set id = case when webhook_resends.finished_at is null then webhook_resends.id else excluded.id end,
          since = case
            when webhook_resends.finished_at is null then least(webhook_resends.since, excluded.since)
            else excluded.since end,
          until = excluded.until,
          position = case
            when webhook_resends.finished_at is null and webhook_resends.since <= excluded.since
                 and webhook_resends.delivery_status = 'failed'
              then webhook_resends.position
            else excluded.position end,
          created_at = case
            when webhook_resends.finished_at is null then webhook_resends.created_at else excluded.created_at end,
          is_read = false,
          finished_at = null
      returning since, until`,
    values: [
      endpoint.merchantId,
      endpoint.connectionId,
      id,
      endpoint.id,
      status,
      since,
      until,
      uuidAt(since),
      createdAt,
    ],
  });
  if (row === undefined) throw new Error("The stored recovery returned no row.");
  return row;
}

/** Locks the heads of these streams, after waiting for the transactions that have locked them. */
export async function lockHeads(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: OrderedResend,
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
    values: [merchantId, connectionId, endpointId, streamIds],
  });
}

/**
 * Makes failed deliveries with fewer than `attemptsMax` attempts pending again, if their events are still kept and may
 * still be sent. Returns the streams of those that it has changed.
 */
export async function reopenDeliveries(
  tx: Queryable,
  { merchantId, connectionId, since }: OrderedResend,
  deliveryIds: readonly string[],
  attemptsMax: number,
  now: Date,
): Promise<string[]> {
  const attemptsFrom = before(since, CLOCK_SKEW_MAX_MS); // No older delivery is reopened.
  const rows = await tx.query<{ stream_id: string }>({
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
      returning d.stream_id`,
    values: [merchantId, connectionId, deliveryIds, now, uuidAt(attemptsFrom), attemptsMax],
  });
  return rows.map((row) => row.stream_id);
}

/**
 * Makes heads due that streams have from before a pause (docs/design/deliveries.md, "Backoff and pause"), like those that are
 * restored. One whose attempt is in progress is not changed, nor a new one that is due.
 */
export async function makeHeadsDue(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: OrderedResend,
  streamIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.query({
    name: "make-heads-due",
    text: `
      update due_deliveries
      set trigger = 'recovery', attempt_count = 0, due_at = $5
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and stream_id = any($4::uuid[])
        and claim_id is null and (attempt_count > 0 or due_at > $5)`,
    values: [merchantId, connectionId, endpointId, streamIds, now],
  });
}

/**
 * Gives streams heads: the first pending delivery of each. A stream that has a head keeps it, but the head is marked as
 * followed, so that the transaction that removes it looks for the next one.
 */
export async function restoreHeads(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: OrderedResend,
  streamIds: readonly string[],
  now: Date,
): Promise<void> {
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
      on conflict (merchant_id, endpoint_id, stream_id) do update set is_followed = true`,
    values: [merchantId, connectionId, endpointId, streamIds, now],
  });
}

/** True if the endpoint is active. It is locked, so that it cannot be paused before the transaction ends. */
export async function shareActiveEndpoint(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: OrderedResend,
): Promise<boolean> {
  const rows = await tx.query({
    name: "share-active-endpoint",
    text: `
      select id
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3 and status = 'active'
      for share`,
    values: [merchantId, connectionId, endpointId],
  });
  return rows.length > 0;
}
