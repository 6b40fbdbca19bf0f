import { type ConnectionKey, type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { before, CLOCK_SKEW_MAX_MS } from "../../platform/time.ts";
import type { EndpointKey } from "../endpoints/endpoint.ts";
import type { OrderedResend } from "./resend.ts";

/** An open resend of an endpoint that keeps the order. */
export type OpenRecovery = Pick<
  OrderedResend,
  "status" | "since" | "position" | "total" | "returnedCount" | "skipped"
>;

/**
 * Locks the open resends of an endpoint that keep the order. Called before the endpoint is locked: a worker that processes a
 * resend locks the resend first, too.
 */
export async function lockOpenRecoveries(tx: Queryable, endpoint: EndpointKey): Promise<OpenRecovery[]> {
  return tx.query<OpenRecovery>({
    name: "lock-open-recoveries",
    text: `
      select delivery_status as status, since, position, total, returned_count as "returnedCount", skipped
      from webhook_resends
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and in_order and finished_at is null
      order by id
      for update`,
    values: [endpoint.merchantId, endpoint.connectionId, endpoint.id],
  });
}

type RequestedRecovery = Pick<OrderedResend, "id" | "status" | "since" | "until" | "createdAt" | "total">;

/**
 * Stores a resend that keeps the order, in place of the endpoint's earlier one of the same status. An open one becomes part of
 * it: the earliest `since` wins. A pause removes heads anywhere, so a resume starts again. A resend of what failed continues at
 * its position if it covers the request. Returns the period. By webhook_resends_in_order_key.
 */
export async function putRecovery(
  tx: Queryable,
  endpoint: EndpointKey,
  { id, status, since, until, createdAt, total }: RequestedRecovery,
): Promise<Pick<OrderedResend, "since" | "until">> {
  const [row] = await tx.query<{ since: Date; until: Date }>({
    name: "put-recovery",
    text: `
      insert into webhook_resends (
        merchant_id, connection_id, id, endpoint_id, delivery_status, since, until, position, created_at, total, in_order,
        sending, is_read, succeeded_count, failed_count, returned_count, skipped)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true, '{}', false, 0, 0, 0, '{}')
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
          total = excluded.total,
          returned_count = case when webhook_resends.finished_at is null then webhook_resends.returned_count else 0 end,
          skipped = case when webhook_resends.finished_at is null then webhook_resends.skipped else excluded.skipped end,
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
      total,
    ],
  });
  if (row === undefined) throw new Error("The stored recovery returned no row.");
  return row;
}

/** What held back the deliveries of an endpoint before a request for its retries. */
type EarlierState = { readonly retriesDue: boolean; readonly backoffUntil: Date | null };

/** Ends the backoff of an endpoint, and requests that its deliveries that wait for a retry become due. */
export async function markRetriesDue(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  now: Date,
): Promise<EarlierState> {
  const [row] = await tx.query<EarlierState>({
    name: "mark-retries-due",
    text: `
      update webhook_endpoint_states s
      set backoff_until = null, recovered_at = $4, retries_due = true
      from (
        select s.merchant_id, s.endpoint_id, s.retries_due, s.backoff_until
        from webhook_endpoint_states s
        where s.merchant_id = $1 and s.connection_id = $2 and s.endpoint_id = $3
        for no key update) as earlier
      where s.merchant_id = $1 and s.endpoint_id = earlier.endpoint_id
      returning earlier.retries_due as "retriesDue", earlier.backoff_until as "backoffUntil"`,
    values: [merchantId, connectionId, id, now],
  });
  if (row === undefined) throw new Error("The endpoint has no state.");
  return row;
}

/** Deliveries that `countHeads` reads, at most. */
const HEADS_COUNTED_MAX = 5_000;

/** How many streams of an endpoint have something that is due after a time. Null if there are too many to count. */
export async function countHeads(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  dueAfter: Date,
): Promise<number | null> {
  const [row] = await tx.query<{ count: number }>({
    name: "count-heads",
    text: `
      select count(*)::integer as count
      from (
        select
        from due_deliveries d
        where d.merchant_id = $1 and d.connection_id = $2 and d.endpoint_id = $3 and d.due_at > $4
        limit 5000 + 1) as waiting`,
    values: [merchantId, connectionId, id, dueAfter],
  });
  const count = row?.count ?? 0;
  return count > HEADS_COUNTED_MAX ? null : count;
}

/** Connections with endpoints whose retries are to become due. A scan over all shards. */
export async function listConnectionsWithRetries(db: Queryable): Promise<ConnectionKey[]> {
  const rows = await searchReachable(db, "list-connections-with-retries", (merchants) =>
    db.query<ConnectionKeyRow>({
      name: "list-connections-with-retries",
      text: `
        select distinct merchant_id, connection_id
        from webhook_endpoint_states
        where retries_due and ($1::uuid[] is null or merchant_id = any($1))`,
      values: [merchants],
    }),
  );
  return rows.map(toConnectionKey);
}

/** An endpoint whose retries are to become due, and when that was requested last. */
export type RequestedRetries = { readonly endpointId: string; readonly recoveredAt: Date | null };

/** The first of a connection. It is not locked, because an outcome locks the head of a stream before the endpoint. */
export async function nextRequestedRetries(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
): Promise<RequestedRetries | null> {
  const [row] = await tx.query<RequestedRetries>({
    name: "next-requested-retries",
    text: `
      select endpoint_id as "endpointId", recovered_at as "recoveredAt"
      from webhook_endpoint_states
      where merchant_id = $1 and connection_id = $2 and retries_due
      order by endpoint_id
      limit 1`,
    values: [merchantId, connectionId],
  });
  return row ?? null;
}

/** The streams whose heads wait for a retry, those first that would wait longest. */
export async function listWaitingStreams(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: ConnectionKey & { readonly endpointId: string },
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ stream_id: string }>({
    name: "list-waiting-streams",
    text: `
      select stream_id
      from due_deliveries
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and due_at > $4
      order by due_at desc
      limit $5`,
    values: [merchantId, connectionId, endpointId, now, limit],
  });
  return rows.map((row) => row.stream_id);
}

/** Makes locked heads due that wait for a retry. Their schedules continue where they are. */
export async function makeRetriesDue(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: ConnectionKey & { readonly endpointId: string },
  streamIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.query({
    name: "make-retries-due",
    text: `
      update due_deliveries
      set due_at = $5
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and stream_id = any($4::uuid[])
        and claim_id is null and due_at > $5`,
    values: [merchantId, connectionId, endpointId, streamIds, now],
  });
}

/** All retries are due. A request that arrived since stays open. */
export async function endRequestedRetries(
  tx: Queryable,
  { merchantId, connectionId }: ConnectionKey,
  { endpointId, recoveredAt }: RequestedRetries,
): Promise<void> {
  await tx.query({
    name: "end-requested-retries",
    text: `
      update webhook_endpoint_states
      set retries_due = false
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3 and recovered_at is not distinct from $4`,
    values: [merchantId, connectionId, endpointId, recoveredAt],
  });
}

/** Locks the heads of these streams, after waiting for the transactions that have locked them. */
export async function lockHeads(
  tx: Queryable,
  { merchantId, connectionId, endpointId }: ConnectionKey & { readonly endpointId: string },
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
 * still be sent. Returns the stream of each that it has changed.
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
      set status = 'pending', fault = null
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
