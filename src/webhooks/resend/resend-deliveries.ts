import { oldestShownId } from "../../events/event-feed.ts";
import { readLimitOverrides } from "../../merchants/connections-sql.ts";
import { maximumOf } from "../../merchants/limits.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { uuidAt } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import type { Resend, Skipped, SkipReason } from "./resend.ts";
import {
  insertResendsDue,
  type ReadDelivery,
  readOutcomes,
  readPeriod,
  shareEndpointsOf,
  whyNotSent,
} from "./resend-batch-sql.ts";
import { listConnectionsWithResends, lockOpenResends, saveResend } from "./resends-sql.ts";

/** Deliveries read in one transaction, and due at a time for one resend. */
const BATCH_SIZE = 500;
/** While more of a resend's deliveries are due, it makes no further ones due: the endpoint sets the pace. */
const SENDING_MAX = 250;

/** Processes the resends that the back office requested. Returns about how many deliveries it read or counted. */
export async function resendDeliveries(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listConnectionsWithResends(context.db)),
    (connection) => resendNextBatch(context, connection),
    stopping,
  );
}

/**
 * Processes a batch of the oldest resend of a connection that has something to do. First it counts what became of the
 * deliveries of earlier batches, then it makes further ones due. Position and counts are stored in the same transaction, so
 * after a crash it resumes there: each delivery is made due once, and counted once.
 */
export async function resendNextBatch(context: Context, connection: ConnectionKey): Promise<number> {
  const { done, isDue } = await inTransaction(context, async (tx) => {
    for (const resend of await lockOpenResends(tx, connection)) {
      const counted = await countOutcomes(tx, resend);
      const read = await readMore(tx, counted.resend, context.clock.now());
      const work = counted.count + read.count;
      const isFinished = read.resend.isRead && read.resend.sending.length === 0;
      if (work === 0 && !isFinished) continue; // Its deliveries are being sent.
      const finishedAt = isFinished ? context.clock.now() : null;
      await saveResend(tx, { ...read.resend, finishedAt });
      return { done: work + 1, isDue: read.resend.sending.length > counted.resend.sending.length };
    }
    return { done: 0, isDue: false };
  });
  if (isDue) context.signals.send("deliveries_due", [connection]);
  return done;
}

type Batch = { readonly resend: Resend; readonly count: number };

async function countOutcomes(tx: Queryable, resend: Resend): Promise<Batch> {
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

async function readMore(tx: Queryable, resend: Resend, now: Date): Promise<Batch> {
  if (resend.canceledAt !== null) return { resend: { ...resend, isRead: true }, count: 0 };
  if (resend.isRead || resend.sending.length > SENDING_MAX) return { resend, count: 0 };
  const limit = BATCH_SIZE - resend.sending.length;
  const read = await nextDeliveries(tx, resend, limit);
  const fitting = read.filter(({ fits }) => fits).map(({ id }) => id);
  const { due, skipped } = await makeDue(tx, resend, fitting, now);
  return {
    count: read.length,
    resend: {
      ...resend,
      position: read.at(-1)?.id ?? resend.position,
      isRead: resend.deliveryIds !== null || read.length < limit,
      sending: [...resend.sending, ...due],
      skipped: added(resend.skipped, skipped),
    },
  };
}

async function nextDeliveries(
  tx: Queryable,
  resend: Resend,
  limit: number,
): Promise<readonly ReadDelivery[]> {
  const { deliveryIds, until } = resend;
  if (deliveryIds !== null) return deliveryIds.map((id) => ({ id, fits: true }));
  return until === null ? [] : readPeriod(tx, resend, uuidAt(until), limit);
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
