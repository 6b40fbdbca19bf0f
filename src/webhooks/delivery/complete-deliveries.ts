import {
  type ConnectionKey,
  type ConnectionKeyRow,
  distinctConnections,
  toConnectionKey,
} from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { merchantByMerchant, merchantsOf } from "../../platform/database/citus.ts";
import { limitLockWaits, plainArray, type Queryable } from "../../platform/database/database.ts";
import type { HealthReport } from "../endpoints/health.ts";
import { pauseEndpoint, saveHealth } from "../endpoints/health-sql.ts";
import { warn } from "../endpoints/pause.ts";
import type { ClaimedDelivery, Completion, DeliveryAttempt } from "./claimed-delivery.ts";

/** How a claim ended, with its evidence about the endpoint. */
export type RecordedCompletion = {
  readonly completion: Completion;
  /** Null when the health of the endpoint need not be stored. */
  readonly health: HealthReport | null;
  /** True if the endpoint was already paused when the outcome arrived. */
  readonly wasPaused: boolean;
};

/**
 * Records outcomes in one transaction.
 * @param lockWaitMs the longest wait for a lock. Absent: that of the pool
 */
export async function completeDeliveries(
  context: Context,
  workerId: string,
  recorded: readonly RecordedCompletion[],
  lockWaitMs?: number,
): Promise<ConnectionKey[]> {
  return inTransaction(context, async (tx) => {
    if (lockWaitMs !== undefined) await limitLockWaits(tx, lockWaitMs);
    return recordCompletions(context, tx, workerId, recorded);
  });
}

/**
 * Stores attempts, finishes or reschedules deliveries, advances their streams, and saves the health of endpoints. Returns the
 * connections whose streams have a new head. For a claim that was taken over by another worker only the attempt is stored.
 * @param workerId null for pull endpoints, which no worker holds. The caller has then locked the state of their endpoint
 */
export async function recordCompletions(
  context: Context,
  tx: Queryable,
  workerId: string | null,
  recorded: readonly RecordedCompletion[],
): Promise<ConnectionKey[]> {
  const now = context.clock.now();
  const completions = recorded.map(({ completion }) => completion);
  const held = await lockClaimedStreams(
    tx,
    completions.map(({ delivery }) => delivery),
  );
  await storeHealth(context, tx, workerId, newestReports(recorded), now);
  // The usual outcome, a success of an active endpoint, needs no read of the delivery and the endpoint.
  const unusual = recorded.filter(
    ({ completion: { delivery, outcome }, wasPaused }) =>
      !held.has(delivery) || outcome.is !== "succeeded" || wasPaused,
  );
  const stateOf = await readStates(
    tx,
    unusual.map(({ completion }) => completion.delivery),
  );
  // Nothing is stored about a delivery that was erased.
  const known = completions.filter(({ delivery }) => held.has(delivery) || stateOf(delivery) !== null);
  await insertAttempts(
    tx,
    known.filter((completion) => !(held.has(completion.delivery) && isInRow(completion))),
  );
  const claims = completions
    .filter(({ delivery }) => held.has(delivery))
    .map((completion) => ({ ...completion, ...(stateOf(completion.delivery) ?? USUAL_STATE) }));
  return endClaims(tx, claims, now);
}

const USUAL_STATE: DeliveryState = { isPending: true, endpointStatus: "active", recoveredAt: null };

/** Outcomes arrive in the order in which they were observed, so the last report of an endpoint includes the others. */
function newestReports(recorded: readonly RecordedCompletion[]): HealthReport[] {
  const newest = new Map<string, HealthReport>();
  for (const { health: report } of recorded) {
    if (report === null) continue;
    const earlier = newest.get(report.endpoint.id);
    newest.set(report.endpoint.id, {
      ...report,
      provenHost: report.provenHost ?? earlier?.provenHost,
      endsBackoff: report.endsBackoff || earlier?.endsBackoff || false,
      pause: report.pause ?? earlier?.pause ?? null,
      warning: report.warning ?? earlier?.warning ?? null,
    });
  }
  // In one order everywhere, so that transactions do not wait for each other in a circle.
  return [...newest.values()].sort((a, b) => (a.endpoint.id < b.endpoint.id ? -1 : 1));
}

/** Also pauses endpoints and queues warnings. The caller has the lease of the endpoints, or has locked their state. */
export async function storeHealth(
  context: Context,
  tx: Queryable,
  workerId: string | null,
  reports: readonly HealthReport[],
  now: Date,
): Promise<void> {
  await saveHealth(tx, workerId, reports);
  for (const report of reports) {
    const isNew = report.pause === null || (await pauseEndpoint(tx, report.endpoint, report.pause, now));
    if (report.warning !== null && isNew) await warn(tx, context, report, report.warning, now);
  }
}

/** A claim that this worker still holds. */
type HeldClaim = Completion & DeliveryState;

/**
 * True for an attempt that the row of its delivery has: one that succeeds in its stream, of which there is at most one. Not one
 * that has rehearsed a fault, which the row cannot name.
 */
const isInRow = ({ outcome, delivery, attempt }: Completion): boolean =>
  outcome.is === "succeeded" && delivery.trigger !== "manual" && attempt?.fault === null;

async function endClaims(tx: Queryable, claims: readonly HeldClaim[], now: Date): Promise<ConnectionKey[]> {
  await finishDeliveries(
    tx,
    claims.flatMap((claim) => {
      const status = finalStatus(claim);
      const { delivery, attempt } = claim;
      return status === null ? [] : { delivery, status, attempt: isInRow(claim) ? attempt : null };
    }),
  );
  const due = claims.filter(staysDue);
  await rescheduleClaims(
    tx,
    due
      .filter(({ outcome }) => outcome.is !== "held")
      .map((claim) => ({
        delivery: claim.delivery,
        dueAt: nextDue(claim, now),
        attemptCount: claim.delivery.attemptCount + (claim.outcome.is === "retry" ? 1 : 0),
      })),
  );
  const passed = await holdBack(
    tx,
    due.flatMap(({ delivery, outcome }) => (outcome.is === "held" ? { delivery, until: outcome.at } : [])),
    now,
  );
  const advanced = await advanceStreams(
    tx,
    claims.filter((claim) => !staysDue(claim)).flatMap(endedHeads),
    now,
  );
  return passed.length === 0 ? advanced : distinctConnections([...passed, ...advanced]);
}

/** A retry waits, unless its recovery was requested while the attempt was in progress. */
function nextDue({ outcome, attempt, recoveredAt }: HeldClaim, now: Date): Date {
  const isRecovered = recoveredAt !== null && attempt !== null && attempt.startedAt < recoveredAt;
  return outcome.is === "retry" && !isRecovered ? outcome.at : now;
}

/** A manual attempt that fails changes nothing: neither an earlier success nor the schedule, which continues. */
function finalStatus({
  outcome,
  delivery,
  isPending,
  endpointStatus,
}: HeldClaim): "succeeded" | "failed" | null {
  if (outcome.is === "succeeded") return "succeeded";
  const isGivenUp = outcome.is === "failed" || endpointStatus === "deleted";
  return isGivenUp && delivery.trigger !== "manual" && isPending ? "failed" : null;
}

const staysDue = ({ outcome, delivery, isPending, endpointStatus }: HeldClaim): boolean =>
  (outcome.is === "retry" || outcome.is === "held" || outcome.is === "released") &&
  endpointStatus === "active" &&
  (isPending || delivery.trigger === "manual");

function endedHeads({ delivery, outcome, endpointStatus }: HeldClaim): EndedHead[] {
  const { merchantId, endpointId, streamId, deliveryId, claimId, ownStreamId } = delivery;
  const head = {
    merchantId,
    endpointId,
    streamId,
    deliveryId,
    claimId,
    continues: endpointStatus === "active",
  };
  if (delivery.trigger !== "manual") return [head];
  const ended = { ...head, continues: false };
  // A manual attempt that succeeds makes the scheduled one unnecessary, unless that is in progress.
  return outcome.is === "succeeded" ? [ended, { ...head, streamId: ownStreamId, claimId: null }] : [ended];
}

const keyOf = (merchantId: string, deliveryId: string): string => `${merchantId} ${deliveryId}`;

/**
 * Locks the streams of claims in the order of their keys, as every transaction does. A transaction that adds a delivery
 * to one of them waits from now on, so the next statement sees all deliveries that were added before. Returns the
 * deliveries whose claim this worker still holds.
 */
async function lockClaimedStreams(
  tx: Queryable,
  deliveries: readonly ClaimedDelivery[],
): Promise<Set<ClaimedDelivery>> {
  // A manual redelivery is due in a stream of its own, beside the one it belongs to.
  const streams = deliveries.flatMap((delivery) =>
    [...new Set([delivery.streamId, delivery.ownStreamId])].map((streamId) => ({ ...delivery, streamId })),
  );
  const rows = await merchantByMerchant(tx, streams, (own, merchantId) =>
    tx.query<{ merchant_id: string; delivery_id: string; claim_id: string | null }>({
      name: "lock-claimed-streams",
      text: `
        select due.merchant_id, due.delivery_id, due.claim_id
        from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as stream (merchant_id, endpoint_id, stream_id)
        join due_deliveries due on due.merchant_id = stream.merchant_id and due.endpoint_id = stream.endpoint_id
          and due.stream_id = stream.stream_id
        where ($4::uuid is null or stream.merchant_id = $4)
        order by due.merchant_id, due.endpoint_id, due.stream_id
        for update of due`,
      values: [
        own.map((stream) => stream.merchantId),
        own.map(({ endpointId }) => endpointId),
        own.map(({ streamId }) => streamId),
        merchantId,
      ],
    }),
  );
  const held = new Set(rows.map((row) => `${keyOf(row.merchant_id, row.delivery_id)} ${row.claim_id}`));
  return new Set(
    deliveries.filter(({ merchantId, deliveryId, claimId }) =>
      held.has(`${keyOf(merchantId, deliveryId)} ${claimId}`),
    ),
  );
}

/** The state of a delivery and its endpoint when an outcome is recorded. */
type DeliveryState = {
  /** False if a manual attempt has succeeded since the claim. */
  readonly isPending: boolean;
  /** The streams of a paused endpoint stop; those of a deleted one end. */
  readonly endpointStatus: "active" | "paused" | "deleted";
  /** When a resume or a recovery was last requested, or a backoff ended. */
  readonly recoveredAt: Date | null;
};

/** Returns a function that looks up the state of a delivery; null for one that was erased. */
async function readStates(
  tx: Queryable,
  deliveries: readonly ClaimedDelivery[],
): Promise<(delivery: ClaimedDelivery) => DeliveryState | null> {
  if (deliveries.length === 0) return () => null;
  const rows = await tx.query<{
    merchant_id: string;
    id: string;
    status: string;
    endpoint_status: DeliveryState["endpointStatus"];
    recovered_at: Date | null;
  }>({
    name: "read-delivery-states",
    text: `
      select d.merchant_id, d.id, d.status, w.status as endpoint_status, s.recovered_at
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as requested (merchant_id, connection_id, id)
      join deliveries d on d.merchant_id = requested.merchant_id and d.connection_id = requested.connection_id
        and d.id = requested.id
      join webhook_endpoints w on w.merchant_id = d.merchant_id and w.id = d.endpoint_id
      join webhook_endpoint_states s on s.merchant_id = d.merchant_id and s.endpoint_id = d.endpoint_id
      where ($4::uuid[] is null or d.merchant_id = any($4)) and ($4::uuid[] is null or w.merchant_id = any($4))
        and ($4::uuid[] is null or s.merchant_id = any($4))`,
    values: [
      deliveries.map(({ merchantId }) => merchantId),
      deliveries.map(({ connectionId }) => connectionId),
      deliveries.map(({ deliveryId }) => deliveryId),
      await merchantsOf(tx, deliveries),
    ],
  });
  const states = new Map(
    rows.map((row) => [
      keyOf(row.merchant_id, row.id),
      {
        isPending: row.status === "pending",
        endpointStatus: row.endpoint_status,
        recoveredAt: row.recovered_at,
      },
    ]),
  );
  return ({ merchantId, deliveryId }) => states.get(keyOf(merchantId, deliveryId)) ?? null;
}

/**
 * Stores attempts. One that is already stored with an unknown outcome is not changed: its claim was taken over, and its
 * delivery sent again.
 */
async function insertAttempts(
  tx: Queryable,
  completions: readonly { delivery: ClaimedDelivery; attempt: DeliveryAttempt | null }[],
): Promise<void> {
  const made = completions.flatMap(({ delivery, attempt }) =>
    attempt === null ? [] : { delivery, attempt },
  );
  if (made.length === 0) return;
  await tx.query({
    name: "insert-attempts",
    text: `
      insert into attempts (
        merchant_id, id, delivery_id, trigger, started_at, duration_ms, response_status, response_body, error, fault)
      select *
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::integer[], $7::integer[],
                  $8::text[], $9::text[], $10::text[])
      on conflict do nothing`,
    values: [
      made.map(({ delivery }) => delivery.merchantId),
      made.map(({ delivery }) => delivery.claimId),
      made.map(({ delivery }) => delivery.deliveryId),
      made.map(({ delivery }) => delivery.trigger),
      made.map(({ attempt }) => attempt.startedAt),
      made.map(({ attempt }) => attempt.durationMs),
      made.map(({ attempt }) => attempt.responseStatus),
      made.map(({ attempt }) => attempt.responseBody),
      made.map(({ attempt }) => attempt.error),
      made.map(({ attempt }) => attempt.fault),
    ],
  });
}

type Finish = {
  readonly delivery: ClaimedDelivery;
  readonly status: "succeeded" | "failed";
  readonly attempt: DeliveryAttempt | null;
};

/**
 * Sets the status of deliveries, and the attempt that their rows have, if any. A delivery may have ended twice at once, on schedule
 * and by hand, and its row is written once.
 */
async function finishDeliveries(tx: Queryable, ended: readonly Finish[]): Promise<void> {
  if (ended.length === 0) return;
  const finished = [
    ...Map.groupBy(ended, ({ delivery }) => keyOf(delivery.merchantId, delivery.deliveryId)).values(),
  ].flatMap(
    (ends) =>
      ends.find(({ attempt }) => attempt !== null) ??
      ends.find(({ status }) => status === "succeeded") ??
      ends.slice(0, 1),
  );
  const deliveries = finished.map(({ delivery }) => delivery);
  await tx.query({
    name: "finish-deliveries",
    text: `
      update deliveries d
      set status = o.status, trigger = coalesce(d.trigger, o.trigger), started_at = coalesce(d.started_at, o.started_at),
          duration_ms = coalesce(d.duration_ms, o.duration_ms),
          response_status = coalesce(d.response_status, o.response_status),
          response_body = coalesce(d.response_body, o.response_body)
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::integer[], $8::integer[],
                  $9::text[])
        as o (merchant_id, connection_id, id, status, trigger, started_at, duration_ms, response_status, response_body)
      where d.merchant_id = o.merchant_id and d.connection_id = o.connection_id and d.id = o.id
        and ($10::uuid[] is null or d.merchant_id = any($10))`,
    values: [
      deliveries.map(({ merchantId }) => merchantId),
      deliveries.map(({ connectionId }) => connectionId),
      deliveries.map(({ deliveryId }) => deliveryId),
      finished.map(({ status }) => status),
      finished.map(({ delivery, attempt }) => (attempt === null ? null : delivery.trigger)),
      finished.map(({ attempt }) => attempt?.startedAt ?? null),
      finished.map(({ attempt }) => attempt?.durationMs ?? null),
      finished.map(({ attempt }) => attempt?.responseStatus ?? null),
      finished.map(({ attempt }) => attempt?.responseBody ?? null),
      await merchantsOf(tx, deliveries),
    ],
  });
}

/** Ends claims whose deliveries stay the heads of their streams, and sets when each is due again. */
async function rescheduleClaims(
  tx: Queryable,
  claims: readonly { delivery: ClaimedDelivery; dueAt: Date; attemptCount: number }[],
): Promise<void> {
  if (claims.length === 0) return;
  await tx.query({
    name: "reschedule-claims",
    text: `
      update due_deliveries d
      set due_at = o.due_at, attempt_count = o.attempt_count, claim_id = null, claimed_at = null, leased_until = null
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::integer[])
        as o (merchant_id, endpoint_id, stream_id, claim_id, due_at, attempt_count)
      where d.merchant_id = o.merchant_id and d.endpoint_id = o.endpoint_id and d.stream_id = o.stream_id
        and d.claim_id = o.claim_id and ($7::uuid[] is null or d.merchant_id = any($7))`,
    values: [
      claims.map(({ delivery }) => delivery.merchantId),
      claims.map(({ delivery }) => delivery.endpointId),
      claims.map(({ delivery }) => delivery.streamId),
      claims.map(({ delivery }) => delivery.claimId),
      claims.map(({ dueAt }) => dueAt),
      claims.map(({ attemptCount }) => attemptCount),
      await merchantsOf(
        tx,
        claims.map(({ delivery }) => delivery),
      ),
    ],
  });
}

/**
 * Ends claims of deliveries that a rehearsed fault holds back. If another delivery has become the first pending one of the stream
 * since, it is the head, and due at once. Returns the connections of these.
 */
async function holdBack(
  tx: Queryable,
  held: readonly { delivery: ClaimedDelivery; until: Date }[],
  now: Date,
): Promise<ConnectionKey[]> {
  if (held.length === 0) return [];
  const rows = await merchantByMerchant(
    tx,
    held.map(({ delivery, until }) => ({ ...delivery, until })),
    (own, merchantId) =>
      tx.query<ConnectionKeyRow & { is_due: boolean }>({
        name: "hold-back-claims",
        text: `
          update due_deliveries d
          set delivery_id = h.first_id, event_id = h.first_event_id,
              due_at = case when h.first_id = h.delivery_id then h.until else $6 end,
              claim_id = null, claimed_at = null, leased_until = null
          from (
            select o.merchant_id, o.endpoint_id, o.stream_id, o.claim_id, o.until, o.delivery_id,
                   n.id as first_id, n.event_id as first_event_id
            from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $7::uuid[])
              as o (merchant_id, endpoint_id, stream_id, claim_id, until, delivery_id)
            cross join lateral (
              select d.id, d.event_id
              from deliveries d
              where d.merchant_id = o.merchant_id and d.endpoint_id = o.endpoint_id and d.stream_id = o.stream_id
                and d.status = 'pending' and ($8::uuid is null or d.merchant_id = $8)
              order by d.sequence, d.id
              limit 1) as n) as h
          where d.merchant_id = h.merchant_id and d.endpoint_id = h.endpoint_id and d.stream_id = h.stream_id
            and d.claim_id = h.claim_id and ($8::uuid is null or d.merchant_id = $8)
          returning d.merchant_id, d.connection_id, d.due_at <= $6 as is_due`,
        values: [
          own.map((delivery) => delivery.merchantId),
          own.map(({ endpointId }) => endpointId),
          own.map(({ streamId }) => streamId),
          own.map(({ claimId }) => claimId),
          own.map(({ until }) => until),
          now,
          own.map(({ deliveryId }) => deliveryId),
          merchantId,
        ],
      }),
  );
  return distinctConnections(rows.filter(({ is_due }) => is_due).map(toConnectionKey));
}

/** A head to remove from its stream. */
type EndedHead = {
  readonly merchantId: string;
  readonly endpointId: string;
  readonly streamId: string;
  readonly deliveryId: string;
  /** The claim that ends with it. Null for a head that is not claimed. */
  readonly claimId: string | null;
  /** False if the endpoint is paused: the other deliveries of the stream wait until it is resumed. */
  readonly continues: boolean;
};

/**
 * Removes heads from their streams, which must be locked. The next pending delivery becomes the head. Returns the
 * connections of streams with a new head.
 */
export async function advanceStreams(
  tx: Queryable,
  ended: readonly EndedHead[],
  now: Date,
): Promise<ConnectionKey[]> {
  if (ended.length === 0) return [];
  const rows = await merchantByMerchant(tx, ended, (own, merchantId) =>
    tx.query<ConnectionKeyRow>({
      name: "advance-streams",
      text: `
        with ended as materialized (
          select *
          from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::boolean[])
            as ended (merchant_id, endpoint_id, stream_id, delivery_id, claim_id, continues)
        ), following as materialized (
          select e.merchant_id, e.endpoint_id, e.stream_id, e.delivery_id, e.claim_id,
                 n.id as next_id, n.event_id as next_event_id, n.not_after as next_not_after
          from ended e
          left join lateral (
            select d.id, d.event_id, d.not_after
            from deliveries d
            where d.merchant_id = e.merchant_id and d.endpoint_id = e.endpoint_id and d.stream_id = e.stream_id
              and d.status = 'pending' and e.continues and ($8::uuid is null or d.merchant_id = $8)
            order by d.sequence, d.id
            limit 1) as n on true
        ), emptied as (
          delete from due_deliveries d
          using following f
          where d.merchant_id = f.merchant_id and d.endpoint_id = f.endpoint_id and d.stream_id = f.stream_id
            and d.delivery_id = f.delivery_id and d.claim_id is not distinct from f.claim_id
            and f.next_id is null and ($8::uuid is null or d.merchant_id = $8)
        )
        update due_deliveries d
        set delivery_id = f.next_id, event_id = f.next_event_id, not_after = f.next_not_after,
            is_followed = true, trigger = 'schedule', attempt_count = 0, due_at = $7,
            claim_id = null, claimed_at = null, leased_until = null
        from following f
        where d.merchant_id = f.merchant_id and d.endpoint_id = f.endpoint_id and d.stream_id = f.stream_id
          and d.delivery_id = f.delivery_id and d.claim_id is not distinct from f.claim_id
          and f.next_id is not null and ($8::uuid is null or d.merchant_id = $8)
        returning d.merchant_id, d.connection_id`,
      values: [
        own.map((head) => head.merchantId),
        own.map(({ endpointId }) => endpointId),
        own.map(({ streamId }) => streamId),
        own.map(({ deliveryId }) => deliveryId),
        own.map(({ claimId }) => claimId),
        own.map(({ continues }) => continues),
        now,
        merchantId,
      ],
    }),
  );
  return distinctConnections(rows.map(toConnectionKey));
}

/** How nearly every claim ends: it was sent, accepted, and the last pending one of its stream. */
export type Success = { readonly delivery: ClaimedDelivery; readonly attempt: DeliveryAttempt };

/**
 * Records successes that end their streams, in one statement because no decision lies in between. The attempt is stored in
 * the row of its delivery, which changes anyway. Returns for each whether this was the case. If not, nothing has changed:
 * another worker took the claim over, or other deliveries of the stream are pending.
 *
 * Deleting the head also locks the stream. A transaction that adds a delivery behind it marks the head as followed. So either
 * the head is not deleted here, or the added delivery becomes a head itself (docs/design/deliveries.md, "Streams").
 */
export async function endStreams(db: Queryable, successes: readonly Success[]): Promise<boolean[]> {
  const rows = await db.query<{ ordinal: number }>({
    name: "end-streams",
    text: `
      with outcome as materialized (
        select *
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::integer[],
                    $8::integer[], $9::text[])
          with ordinality
          as o (merchant_id, endpoint_id, stream_id, delivery_id, claim_id, started_at, duration_ms, response_status,
                response_body, ordinal)
        order by o.merchant_id, o.endpoint_id, o.stream_id -- All transactions lock streams in this order.
      ), ended as (
        delete from due_deliveries d
        using outcome o
        where d.merchant_id = o.merchant_id and d.endpoint_id = o.endpoint_id and d.stream_id = o.stream_id
          and d.delivery_id = o.delivery_id and d.claim_id = o.claim_id and not d.is_followed
        returning o.*, d.connection_id, d.trigger
      ), finished as (
        update deliveries d
        set status = 'succeeded', trigger = e.trigger, started_at = e.started_at, duration_ms = e.duration_ms,
            response_status = e.response_status, response_body = e.response_body
        from ended e
        where d.merchant_id = e.merchant_id and d.connection_id = e.connection_id and d.id = e.delivery_id
      )
      select ordinal::integer from ended`,
    values: [
      plainArray(successes.map(({ delivery }) => delivery.merchantId)),
      plainArray(successes.map(({ delivery }) => delivery.endpointId)),
      plainArray(successes.map(({ delivery }) => delivery.streamId)),
      plainArray(successes.map(({ delivery }) => delivery.deliveryId)),
      plainArray(successes.map(({ delivery }) => delivery.claimId)),
      plainArray(successes.map(({ attempt }) => attempt.startedAt.toISOString())),
      plainArray(successes.map(({ attempt }) => attempt.durationMs)),
      plainArray(successes.map(({ attempt }) => attempt.responseStatus ?? "null")),
      successes.map(({ attempt }) => attempt.responseBody),
    ],
  });
  const ended = new Set(rows.map(({ ordinal }) => ordinal));
  return successes.map((_, index) => ended.has(index + 1));
}
