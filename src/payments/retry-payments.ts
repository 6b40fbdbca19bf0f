import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { bringForward, bringForwardUpTo, findDueAfter, hasScheduled } from "../ledger/due-payments-sql.ts";
import { type Retries, retriesOf } from "../ledger/ledger.ts";
import { insertEntries, readLedger } from "../ledger/ledger-sql.ts";
import { type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import { asOf, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../lifecycle/order.ts";
import { inSeenOrder, type Staff } from "../orders/changes/change-order.ts";
import { OrderFailure } from "../orders/changes/process-orders.ts";
import { insertTimelineEntries, isTimelineFull } from "../orders/changes/timeline-sql.ts";
import { transitionRefused } from "../orders/changes/transition-order.ts";
import { lockFreeOrders, readOrders } from "../orders/orders-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, type Queryable } from "../platform/database/database.ts";
import { listedEachPass, runInTurn } from "../platform/run-in-turn.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import type { Problem } from "../platform/wire/problems.ts";
import {
  advanceRetry,
  finishRetry,
  listDeclinedOrders,
  listGivenUpOrders,
  listPaymentRetries,
  type PaymentRetry,
  removeFailedOrder,
  requestPaymentRetry,
} from "./retries-sql.ts";

/** How many payments and declines one batch reads, for which other merchants wait. */
const BATCH_SIZES = {
  scheduled: 1_000,
  declined: 100,
  /** With so many failed orders, a retry processes these before it continues, so that its row stays small. */
  failed: 100,
} as const;
type BatchSizes = Record<keyof typeof BATCH_SIZES, number>;

/**
 * Attempts the declined charges of merchants again that can pay more than before: scheduled attempts become due, and each order
 * without one gets one (docs/design/money.md, "Retries of declined charges"). Returns about how many batches and orders it
 * processed.
 */
export async function retryDeclinedCharges(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(() => listPaymentRetries(context.db)),
    (retry, failures) => retryNextBatch(context, retry, failures),
    stopping,
  );
}

/**
 * Processes a batch of a merchant. Each transaction stores its position, so that after a crash another worker continues there,
 * and nothing is attempted twice for one change. Returns 0 if there is nothing left to do now. Adds to `failures` each order
 * that still could not be stored: the run reports the first of them together.
 */
export async function retryNextBatch(
  context: Context,
  retry: PaymentRetry,
  failures: unknown[],
  sizes: BatchSizes = BATCH_SIZES,
): Promise<number> {
  const { db } = context;
  const { merchantId, part, position, failedOrderIds } = retry;
  if (part === "scheduled") return bringNextForward(context, retry, sizes.scheduled);
  const isFull = failedOrderIds.length >= sizes.failed;
  const ids = isFull ? [] : await listDeclinedOrders(db, merchantId, position, sizes.declined);
  if (ids.length > 0) return retryOrders(context, retry, ids);
  if (failedOrderIds.length > 0) return retryFailedOrders(context, retry, failures);
  await finishRetry(db, retry);
  return 0;
}

async function bringNextForward(context: Context, retry: PaymentRetry, limit: number): Promise<number> {
  return inTransaction(context, async (tx) => {
    const { merchantId, position } = retry;
    const end = await findDueAfter(tx, merchantId, position, limit);
    const next =
      end === null
        ? { part: "declined" as const, position: UUID_MIN }
        : { part: "scheduled" as const, position: end };
    if (!(await advanceRetry(tx, retry, next))) return 0;
    if (end !== null) await bringForwardUpTo(tx, merchantId, position, end, context.clock.now());
    return 1;
  });
}

/** Each order has its own transaction, so that one that fails affects no other. It is processed again later. */
async function retryOrders(context: Context, retry: PaymentRetry, ids: readonly string[]): Promise<number> {
  const { db } = context;
  let at = retry;
  for (const order of await listGivenUpOrders(db, retry.merchantId, ids)) {
    const next = { ...at, position: order.id };
    const outcome = await retryOrder(context, order, (tx) => advanceRetry(tx, at, next));
    if (outcome === "overtaken") return 0;
    if (outcome !== "retried" && !(await advanceRetry(db, at, next, order.id))) return 0;
    at = next;
  }
  const end = ids.at(-1);
  if (end !== undefined) await advanceRetry(db, at, { ...at, position: end });
  return ids.length;
}

/** Throws if one fails again, so that the run continues with other merchants. */
async function retryFailedOrders(
  context: Context,
  retry: PaymentRetry,
  failures: unknown[],
): Promise<number> {
  const { db } = context;
  const owing = new Map(
    (await listGivenUpOrders(db, retry.merchantId, retry.failedOrderIds)).map((order) => [order.id, order]),
  );
  const outcomes: Outcome[] = [];
  for (const id of retry.failedOrderIds) {
    const order = owing.get(id);
    if (order !== undefined)
      outcomes.push(await retryOrder(context, order, (tx) => removeFailedOrder(tx, retry, id)));
    else await removeFailedOrder(db, retry, id); // Paid, canceled or retried since.
  }
  const [failed, ...others] = outcomes.filter((outcome) => outcome instanceof OrderFailure);
  failures.push(...others);
  if (failed !== undefined) throw failed;
  return retry.failedOrderIds.length - outcomes.filter((outcome) => outcome === "locked").length;
}

/**
 * `retried`: an attempt is due, or the order owes nothing any more. `locked`: by another transaction.
 * `overtaken`: another worker has processed it, or a later change has begun the retry again. A failure: it could not be stored.
 */
type Outcome = "retried" | "locked" | "overtaken" | OrderFailure;

/**
 * Gives an order one more attempt.
 * @param claim stores that the order is processed. False if it was overtaken: then nothing changes
 */
async function retryOrder(
  context: Context,
  key: OrderKey,
  claim: (tx: Queryable) => Promise<boolean>,
): Promise<Outcome> {
  try {
    return await inTransaction(context, async (tx) => {
      const [locked] = await lockFreeOrders(tx, [key]);
      if (locked === undefined) return "locked";
      if (!(await claim(tx))) return "overtaken";
      const [stored] = await readOrders(tx, key, [key.id]);
      if (stored === undefined) return "retried";
      const at = { newId: context.newId, now: context.clock.now() };
      const order = asOf(stored, at.now);
      const retries = await readRetries(tx, order, at);
      if (retries.add.length > 0) await storeRetries(tx, order, retries, null, at);
      return "retried";
    });
  } catch (err) {
    if (isOutOfReach(err)) throw err;
    return new OrderFailure(key, "charged again", err);
  }
}

const OPERATION = "retryPayment";

/**
 * Makes the declined entries of an order due at once: its scheduled attempts, or one more after the end of the
 * schedule. For a canceled order, these are its refunds. Returns the order, or 409 `nothing_to_pay`. A retry is safe:
 * an attempt that is due or in progress stays the only one, and nothing changes.
 */
export function retryPayment(context: Context, staff: Staff, key: OrderKey): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, stored, at, by) => {
    const order = asOf(stored, at.now);
    const retries = await readRetries(tx, order, at);
    if (retries.add.length + retries.bringForward.length === 0)
      return transitionRefused(OPERATION, order, "nothing_to_pay");
    const waiting = retries.bringForward.map(({ id }) => id);
    if (retries.add.length === 0 && !(await hasScheduled(tx, order, order.id, waiting, at.now))) return order;
    if (await isTimelineFull(tx, order)) return transitionRefused(OPERATION, order, "too_many_changes");
    await storeRetries(tx, order, retries, by, at);
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, at, by, { merchantId, connectionId, subject: "ord", ids: [id] });
    return order;
  });
}

/**
 * Requests that all declined charges of a merchant are attempted again, as if it could pay more: a job makes them due
 * (docs/design/money.md, "Retries of declined charges"). A retry is safe: it begins again.
 */
export async function retryMerchantPayments(
  context: Context,
  merchantId: string,
  by: Initiator,
): Promise<void> {
  await inTransaction(context, async (tx) => {
    await recordAudit(tx, context, by, { merchantId, subject: "mer", ids: [merchantId] });
    await requestPaymentRetry(tx, context, merchantId);
  });
}

/** What of an order can be paid again at once. The caller has locked the order. */
async function readRetries(tx: Queryable, order: Order, at: RecordContext): Promise<Retries> {
  return retriesOf(await readLedger(tx, order, order.id), wasCanceled(order), at.now);
}

/** @param by null: the service itself, as a consequence of another operation, which has its own audit entry */
async function storeRetries(
  tx: Queryable,
  order: Order,
  retries: Retries,
  by: Initiator | null,
  at: RecordContext,
): Promise<void> {
  const requestId = by?.requestId ?? null;
  const waiting = retries.bringForward.map(({ id }) => id);
  await bringForward(tx, order, order.id, waiting, at.now);
  await insertEntries(
    tx,
    retries.add.map((entry) => ({ ...entry, order, id: at.newId(), requestId })),
    at.now,
  );
  const cause = { actor: by?.actor ?? SERVICE, operation: OPERATION, requestId };
  await insertTimelineEntries(tx, [{ order, cause, shipmentId: null }], at);
}
