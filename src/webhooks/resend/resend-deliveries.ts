import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import { type ConnectionKey, distinctConnections } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { after } from "../../platform/time.ts";
import { oldestShownId } from "../events/event-feed.ts";
import {
  endRequestedRetries,
  listConnectionsWithRetries,
  listWaitingStreams,
  lockHeads,
  makeHeadsDue,
  makeRetriesDue,
  nextRequestedRetries,
  reopenDeliveries,
  restoreHeads,
  shareActiveEndpoint,
} from "./recovery-sql.ts";
import {
  COMMIT_ALLOWANCE_MS,
  keepsOrder,
  type OrderedResend,
  type Resend,
  type Skipped,
  type SkipReason,
} from "./resend.ts";
import {
  insertResendsDue,
  listConnectionsWithResends,
  lockOpenResends,
  readOutcomes,
  readPeriod,
  saveResend,
  shareEndpointsOf,
  whyNotSent,
} from "./resends-sql.ts";

/** Deliveries of a recovery that are read in one transaction. Few, so that streams are locked for a short time. */
const IN_ORDER_BATCH_SIZE = 1_000;
/** Deliveries of another resend that are read in one transaction, and due at a time. */
const BATCH_SIZE = 500;
/** While more of a resend's deliveries are due, it makes no further ones due: the endpoint sets the pace. */
const SENDING_MAX = 250;

/**
 * Processes the resends that partners and the back office requested, and makes retries due that need not wait any more. Returns
 * about how many deliveries it read or counted.
 */
export async function resendDeliveries(context: Context, stopping?: AbortSignal): Promise<number> {
  const { db, clock } = context;
  return runInTurn(
    listedEachPass(async () =>
      distinctConnections([
        ...(await listConnectionsWithRetries(db)),
        ...(await listConnectionsWithResends(db, clock.now())),
      ]),
    ),
    async (connection) =>
      (await retryNextBatch(context, connection)) + (await resendNextBatch(context, connection)),
    stopping,
  );
}

/**
 * Makes deliveries of an endpoint due that wait for a retry, because the endpoint is said to be back, or has shown it
 * (docs/design/deliveries.md, "After an outage"). Returns 0 if there is nothing to do.
 */
async function retryNextBatch(context: Context, connection: ConnectionKey): Promise<number> {
  const count = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const requested = await nextRequestedRetries(tx, connection);
    if (requested === null) return null;
    const endpoint = { ...connection, endpointId: requested.endpointId };
    const streamIds = await listWaitingStreams(tx, endpoint, now, IN_ORDER_BATCH_SIZE);
    await lockHeads(tx, endpoint, streamIds);
    await makeRetriesDue(tx, endpoint, streamIds, now);
    if (streamIds.length < IN_ORDER_BATCH_SIZE) await endRequestedRetries(tx, connection, requested);
    return streamIds.length;
  });
  // Also without any: the backoff has ended.
  if (count !== null) context.signals.send("deliveries_due", [connection]);
  return count === null ? 0 : count + 1;
}

/** How a resend has changed. `count`: deliveries that were read or counted. */
type Batch = { readonly resend: Resend; readonly count: number; readonly isDue: boolean };

/**
 * Processes a batch of the first resend of a connection that has something to do. A resend pages through the log by id. Its
 * position and counts are stored in the same transaction, so after a crash it resumes there: each delivery is made due once,
 * and counted once. Returns 0 if there is nothing to do.
 */
export async function resendNextBatch(context: Context, connection: ConnectionKey): Promise<number> {
  const batch = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    for (const resend of await lockOpenResends(tx, connection, now)) {
      const batch = keepsOrder(resend)
        ? await returnToStreams(tx, resend, now)
        : await sendApart(tx, resend, now);
      if (batch.count === 0 && batch.resend.finishedAt === null) continue; // Its deliveries are being sent.
      await saveResend(tx, batch.resend);
      return batch;
    }
    return null;
  });
  if (batch?.isDue) context.signals.send("deliveries_due", [connection]);
  return batch === null ? 0 : batch.count + 1;
}

/**
 * Returns deliveries to their streams, which send them in order. A resume reads the log twice: transactions that began before
 * it saw the endpoint paused and wrote no heads for their deliveries. All of them have ended when it is read again.
 */
async function returnToStreams(tx: Queryable, resend: OrderedResend, now: Date): Promise<Batch> {
  // Paused again or deleted. Another resume requests another resend.
  if (!(await shareActiveEndpoint(tx, resend)))
    return { resend: { ...resend, finishedAt: now }, count: 0, isDue: false };
  const until = after(resend.until, COMMIT_ALLOWANCE_MS);
  const page = await readPeriod(tx, resend, uuidAt(until), IN_ORDER_BATCH_SIZE);
  const fitting = page.filter(({ fits }) => fits);
  let streamIds = [...new Set(fitting.map(({ streamId }) => streamId))];
  let returned = fitting.length;
  if (streamIds.length > 0) {
    // First, so that the statements after it see the current heads of the streams.
    await lockHeads(tx, resend, streamIds);
    if (resend.status === "failed") {
      const overrides = (await readLimitOverrides(tx, [resend]))(resend);
      const ids = fitting.map(({ id }) => id);
      const attemptsMax = maximumOf(overrides, "deliveryAttempts");
      const reopened = await reopenDeliveries(tx, resend, ids, attemptsMax, now);
      streamIds = [...new Set(reopened)];
      returned = reopened.length;
    } else if (!resend.isRead) await makeHeadsDue(tx, resend, streamIds, now);
    await restoreHeads(tx, resend, streamIds, now);
  }
  const last = page.at(-1);
  const batch = { count: Math.max(1, fitting.length), isDue: streamIds.length > 0 };
  const isSecond = resend.status === "pending" && resend.isRead; // What it finds has been counted.
  const counted: OrderedResend = {
    ...resend,
    returnedCount: resend.returnedCount + (isSecond ? 0 : returned),
    skipped: added(resend.skipped, { not_sent: fitting.length - returned }),
  };
  if (page.length === IN_ORDER_BATCH_SIZE && last !== undefined)
    return { ...batch, resend: { ...counted, position: last.id } };
  if (resend.status === "pending" && !resend.isRead)
    return { ...batch, resend: { ...counted, position: uuidAt(resend.since), isRead: true } };
  return { ...batch, resend: { ...counted, isRead: true, finishedAt: now } };
}

/** Counts what became of the deliveries of earlier batches, then makes further ones due, each in a stream of its own. */
async function sendApart(tx: Queryable, resend: Resend, now: Date): Promise<Batch> {
  const counted = await countOutcomes(tx, resend);
  const read = await readMore(tx, counted.resend, now);
  const isFinished = read.resend.isRead && read.resend.sending.length === 0;
  return {
    resend: { ...read.resend, finishedAt: isFinished ? now : null },
    count: counted.count + read.count,
    isDue: read.resend.sending.length > counted.resend.sending.length,
  };
}

type Counted = Pick<Batch, "resend" | "count">;

async function countOutcomes(tx: Queryable, resend: Resend): Promise<Counted> {
  if (resend.sending.length === 0) return { resend, count: 0 };
  const outcomes = await readOutcomes(tx, resend);
  const sending = resend.sending.filter((_id, index) => outcomes[index] === "sending");
  const numberOf = (outcome: string): number => outcomes.filter((each) => each === outcome).length;
  return {
    count: resend.sending.length - sending.length,
    resend: {
      ...resend,
      sending,
      succeededCount: resend.succeededCount + numberOf("succeeded"),
      failedCount: resend.failedCount + numberOf("failed"),
      skipped: added(resend.skipped, {
        delivery_erased: numberOf("delivery_erased"),
        not_sent: numberOf("not_sent"),
      }),
    },
  };
}

async function readMore(tx: Queryable, resend: Resend, now: Date): Promise<Counted> {
  if (resend.canceledAt !== null) return { resend: { ...resend, isRead: true }, count: 0 };
  if (resend.isRead || resend.sending.length > SENDING_MAX) return { resend, count: 0 };
  const limit = BATCH_SIZE - resend.sending.length;
  const { deliveryIds, until } = resend;
  const read = until === null ? [] : await readPeriod(tx, resend, uuidAt(until), limit);
  const fitting = deliveryIds ?? read.filter(({ fits }) => fits).map(({ id }) => id);
  const { due, skipped } = await makeDue(tx, resend, fitting, now);
  return {
    count: deliveryIds?.length ?? read.length,
    resend: {
      ...resend,
      position: deliveryIds?.at(-1) ?? read.at(-1)?.id ?? resend.position,
      isRead: deliveryIds !== null || read.length < limit,
      sending: [...resend.sending, ...due],
      skipped: added(resend.skipped, skipped),
    },
  };
}

async function makeDue(
  tx: Queryable,
  resend: Resend,
  deliveryIds: readonly string[],
  now: Date,
): Promise<{ due: string[]; skipped: Skipped }> {
  if (deliveryIds.length === 0) return { due: [], skipped: {} };
  await shareEndpointsOf(tx, resend, deliveryIds);
  const overrides = (await readLimitOverrides(tx, [resend]))(resend);
  const limits = {
    redeliveriesPerDay: maximumOf(overrides, "redeliveriesPerDay"),
    deliveryAttempts: maximumOf(overrides, "deliveryAttempts"),
  };
  const found = await whyNotSent(tx, resend, deliveryIds, limits, { now, oldestEventId: oldestShownId(now) });
  const due = found.filter(({ reason }) => reason === null).map(({ id }) => id);
  if (due.length > 0) await insertResendsDue(tx, resend, due, now);
  const reasons = found.flatMap(({ reason }) => reason ?? []);
  const skipped = reasons.reduce<Skipped>((counts, reason) => added(counts, { [reason]: 1 }), {
    delivery_erased: deliveryIds.length - found.length,
  });
  return { due, skipped };
}

/** Numbers by reason, added. */
const added = (some: Skipped, others: Skipped): Skipped => {
  const sum: Partial<Record<SkipReason, number>> = { ...some };
  for (const [reason, number] of Object.entries(others) as [SkipReason, number][]) // The keys of `Skipped`.
    if (number > 0) sum[reason] = (sum[reason] ?? 0) + number;
  return sum;
};
