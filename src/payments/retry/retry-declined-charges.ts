import { bringForwardUpTo, findDueAfter } from "../../ledger/due-payments-sql.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { OrderKey } from "../../lifecycle/order.ts";
import { lockFreeOrders } from "../../orders/changes/lock-orders-sql.ts";
import { OrderFailure } from "../../orders/changes/process-orders.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { isOutOfReach, type Queryable } from "../../platform/database/database.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import { listDeclinedOrders, listGivenUpOrders } from "./declined-charges-sql.ts";
import {
  advanceRetry,
  finishRetry,
  listPaymentRetries,
  type PaymentRetry,
  removeFailedOrder,
} from "./payment-retries-sql.ts";
import { readRetries, storeRetries } from "./retry-payment.ts";

/** How many payments and declines one batch reads, for which other merchants wait. */
const BATCH_SIZES = {
  scheduled: 1_000,
  declined: 100,
  /** With so many failed orders, a retry processes these before it continues, so that its row stays small. */
  failed: 100,
} as const;
type BatchSizes = Record<keyof typeof BATCH_SIZES, number>;

/**
 * Attempts the declined charges of merchants again that can pay more than before: scheduled attempts become due, and each
 * order without one gets one (decision 0212). Returns about how many batches and orders it processed.
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
