import { type ConnectionKeyRow, toConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { searchReachable } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { before, DAY_MS, EVENTS_KEPT_MS } from "../../platform/time.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import type { EndpointKey } from "./endpoint.ts";

/** Rows processed in one transaction. Few, so that streams are locked for a short time. */
const BATCH_SIZE = 1_000;

/**
 * Removes what is due at endpoints that were paused or deleted, and fails the pending deliveries of those that were deleted
 * (docs/design/deliveries.md, "Backoff and pause"). Returns how many batches it processed.
 */
export async function clearEndpoints(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listClearings(context.db)),
    (endpoint) => clearNextBatch(context, endpoint),
    stopping,
  );
}

/**
 * Processes a batch of an endpoint, and stores its position in the same transaction, so that after a crash another worker
 * continues there. Returns 0 if there is nothing to do.
 */
export function clearNextBatch(
  context: Context,
  endpoint: EndpointKey,
  batchSize = BATCH_SIZE,
): Promise<number> {
  return inTransaction(context, async (tx) => {
    // The endpoint is locked before its clearing, as by a pause.
    const status = await shareStatus(tx, endpoint);
    const clearing = await lockClearing(tx, endpoint);
    if (clearing === null) return 0;
    const isStopped = status === "paused" || status === "deleted";
    // An endpoint that was resumed sends what is left: the recovery makes it due at once.
    const next = isStopped ? await clearBatch(tx, endpoint, clearing, batchSize) : null;
    if (next !== null) await saveClearing(tx, endpoint, next);
    else if (status === "deleted" && clearing.part === "streams")
      await saveClearing(tx, endpoint, { part: "deliveries", position: oldestPending(context) });
    else await finishClearing(tx, endpoint);
    return 1;
  });
}

/** Returns how far the clearing is. Null at the end of its part. */
async function clearBatch(
  tx: Queryable,
  endpoint: EndpointKey,
  { part, position }: Clearing,
  batchSize: number,
): Promise<Clearing | null> {
  const process = part === "streams" ? removeHeads : failPendingDeliveries;
  const end = await process(tx, endpoint, position, batchSize);
  return end === null ? null : { part, position: end };
}

/** No older delivery is pending. */
const oldestPending = ({ clock }: Context): string => uuidAt(before(clock.now(), EVENTS_KEPT_MS + DAY_MS));

/** The status of an endpoint as it is stored. */
type StoredStatus = "active" | "paused" | "deleted";

/** How far the clearing of an endpoint is (docs/design/deliveries.md, "Backoff and pause"). */
type Clearing = {
  readonly part: "streams" | "deliveries";
  /** The stream or the delivery up to which the part has been processed. */
  readonly position: string;
};

/**
 * Requests that what is due at an endpoint is removed. In the transaction that pauses or deletes the endpoint, and that
 * has locked it. A clearing that is under way begins again: a resume may have restored what it had removed.
 */
export async function requestClearing(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  now: Date,
): Promise<void> {
  await tx.query({
    name: "request-clearing",
    text: `
      insert into webhook_clearings (merchant_id, connection_id, endpoint_id, part, position, created_at)
      values ($1, $2, $3, 'streams', $4, $5)
      on conflict (merchant_id, endpoint_id) do update
      set part = excluded.part, position = excluded.position, created_at = excluded.created_at`,
    values: [merchantId, connectionId, id, UUID_MIN, now],
  });
}

/** Endpoints that are to be cleared. A scan over all shards, of a small table. */
async function listClearings(db: Queryable): Promise<EndpointKey[]> {
  const rows = await searchReachable(db, "list-clearings", (merchants) =>
    db.query<ConnectionKeyRow & { endpoint_id: string }>({
      name: "list-clearings",
      text: `
        select merchant_id, connection_id, endpoint_id
        from webhook_clearings
        where ($1::uuid[] is null or merchant_id = any($1))
        order by created_at, endpoint_id`,
      values: [merchants],
    }),
  );
  return rows.map((row) => ({ ...toConnectionKey(row), id: row.endpoint_id }));
}

/** The status of an endpoint. It is locked, so that it cannot be resumed before the transaction ends. */
async function shareStatus(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
): Promise<StoredStatus | null> {
  const [row] = await tx.query<{ status: StoredStatus }>({
    name: "share-endpoint-status",
    text: `
      select status
      from webhook_endpoints
      where merchant_id = $1 and connection_id = $2 and id = $3
      for share`,
    values: [merchantId, connectionId, id],
  });
  return row?.status ?? null;
}

/** Locks the clearing of an endpoint. Null if it is finished, or if another worker processes it. */
async function lockClearing(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
): Promise<Clearing | null> {
  const [clearing] = await tx.query<Clearing>({
    name: "lock-clearing",
    text: `
      select part, position
      from webhook_clearings
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3
      for update skip locked`,
    values: [merchantId, connectionId, id],
  });
  return clearing ?? null;
}

async function saveClearing(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  { part, position }: Clearing,
): Promise<void> {
  await tx.query({
    name: "save-clearing",
    text: `
      update webhook_clearings
      set part = $4, position = $5
      where merchant_id = $1 and connection_id = $2 and endpoint_id = $3`,
    values: [merchantId, connectionId, id, part, position],
  });
}

async function finishClearing(tx: Queryable, { merchantId, connectionId, id }: EndpointKey): Promise<void> {
  await tx.query({
    name: "finish-clearing",
    text: "delete from webhook_clearings where merchant_id = $1 and connection_id = $2 and endpoint_id = $3",
    values: [merchantId, connectionId, id],
  });
}

/**
 * Removes a batch of heads after a position, in the order of their streams. An attempt in progress ends with its own
 * outcome. Returns the stream at which the batch ended, null at the end. By the primary key.
 */
async function removeHeads(
  tx: Queryable,
  { merchantId, id }: EndpointKey,
  position: string,
  limit: number,
): Promise<string | null> {
  const rows = await tx.query<{ stream_id: string }>({
    name: "remove-heads",
    text: `
      with page as materialized (
        select d.stream_id
        from due_deliveries d
        where d.merchant_id = $1 and d.endpoint_id = $2 and d.stream_id > $3 and d.claim_id is null
        order by d.stream_id -- All transactions lock streams in this order.
        limit $4
        for update
      ), removed as (
        delete from due_deliveries d
        where d.merchant_id = $1 and d.endpoint_id = $2 and d.stream_id = any(array(select p.stream_id from page p))
      )
      select stream_id from page order by stream_id desc limit 1`,
    values: [merchantId, id, position, limit],
  });
  return rows[0]?.stream_id ?? null;
}

/**
 * Reads a batch of deliveries of any status after a position, and fails the pending ones, except for attempts in progress.
 * Returns the position at which the batch ended, null at the end.
 */
async function failPendingDeliveries(
  tx: Queryable,
  { merchantId, connectionId, id }: EndpointKey,
  position: string,
  limit: number,
): Promise<string | null> {
  const rows = await tx.query<{ id: string }>({
    name: "fail-pending-deliveries",
    text: `
      with page as materialized (
        select d.id, d.status, exists (
                 select from due_deliveries q
                 where q.merchant_id = $1 and q.endpoint_id = $2 and q.stream_id = d.stream_id and q.delivery_id = d.id
                   and q.claim_id is not null
               ) as is_in_progress
        from deliveries d
        where d.merchant_id = $1 and d.endpoint_id = $2 and d.id > $3
        order by d.id
        limit $4
      ), failed as (
        update deliveries d
        set status = 'failed'
        from page p
        where d.merchant_id = $1 and d.connection_id = $5 and d.id = p.id and p.status = 'pending'
          and d.status = 'pending' and not p.is_in_progress
      )
      select id from page order by id desc limit 1`,
    values: [merchantId, id, position, limit, connectionId],
  });
  return rows[0]?.id ?? null;
}
