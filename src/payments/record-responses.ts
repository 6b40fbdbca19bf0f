import {
  type ClaimedPayment,
  endClaims,
  insertOutcomes,
  type PaymentOutcome,
  type Postponement,
  postponePayments,
} from "../ledger/due-payments-sql.ts";
import {
  attemptAfter,
  failedCharges,
  hasFailedCharge,
  type LedgerEntry,
  type NewEntry,
  refundsOwed,
} from "../ledger/ledger.ts";
import { insertEntries, readLedgers } from "../ledger/ledger-sql.ts";
import {
  applyTransition,
  hasFailedPayment,
  isSettled,
  PAYMENT_FAILED,
  wasCanceled,
} from "../lifecycle/lifecycle.ts";
import type { Order } from "../lifecycle/order.ts";
import { type RecordContext, SERVICE } from "../lifecycle/order-step.ts";
import { storeOutcome } from "../orders/changes/change-order.ts";
import { lockFreeOrders, lockOrderState, type OrderState } from "../orders/changes/lock-orders-sql.ts";
import { readOrders } from "../orders/orders-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { MINUTE_MS } from "../platform/time.ts";
import { findPayable } from "./account/find-payable.ts";
import type { GatewayResponse } from "./gateway.ts";

/** A payment and what its gateway said; null when nobody knows what happened there. */
export type RespondedPayment = { readonly payment: ClaimedPayment; readonly answer: GatewayResponse | null };

/** A decline means several statements for its order; more of them in a transaction would keep partners' cancels waiting. */
const DECLINES_MAX = 50;

/**
 * Records what a gateway said of payments of one claim, with all that it means for their orders. Whoever has lost
 * the claim meanwhile changes nothing.
 */
export async function recordResponses(
  context: Context,
  connectionId: string,
  answered: readonly RespondedPayment[],
): Promise<void> {
  const isDecline = ({ answer }: RespondedPayment): boolean => answer?.answer === "declined";
  const ordinary = answered.filter((one) => !isDecline(one));
  if (ordinary.length > 0) await completeTogether(context, connectionId, ordinary);
  const declined = answered.filter(isDecline);
  for (let at = 0; at < declined.length; at += DECLINES_MAX)
    await completeTogether(context, connectionId, declined.slice(at, at + DECLINES_MAX));
}

/**
 * Together for the orders that are not locked. Each of the others is waited for in a transaction of its own, so that no
 * order stays locked while this waits for another one.
 */
async function completeTogether(
  context: Context,
  connectionId: string,
  answered: readonly RespondedPayment[],
): Promise<void> {
  const byOrder = Map.groupBy(answered, ({ payment }) => payment.orderId);
  const done = await completeLocked(context, connectionId, answered, (tx) =>
    lockFreeOrders(tx, connectionId, [...byOrder.keys()]),
  );
  for (const [orderId, ofOrder] of byOrder)
    if (!done.has(orderId))
      await completeLocked(context, connectionId, ofOrder, (tx) => lockOrderState(tx, connectionId, orderId));
}

type States = ReadonlyMap<string, OrderState>;

/**
 * One transaction; answers the orders that it locked. The orders' locks come first, as in every step of an order, so
 * that a cancel is either seen here or sees what is recorded here. A charge that succeeds for an ordinary order changes
 * nothing but the ledger.
 */
async function completeLocked(
  context: Context,
  connectionId: string,
  answered: readonly RespondedPayment[],
  lock: (tx: Queryable) => Promise<States>,
): Promise<States> {
  const { orders, hasSteps } = await inTransaction(context, async (tx) => {
    const orders = await lock(tx);
    const at = { newId: context.newId, now: context.clock.now() };
    const ofLocked = answered.filter(({ payment }) => orders.has(payment.orderId));
    const { settlements, postponements } = sortOut(ofLocked, at.now);
    const recorded = await endClaims(tx, connectionId, settlements);
    await insertOutcomes(tx, connectionId, recorded, at.now);
    await postponePayments(tx, connectionId, postponements);
    const concerned = recorded.filter(({ outcome, payment }) => {
      const order = orders.get(payment.orderId);
      return outcome === "failed" || (order && (wasCanceled(order) || hasFailedPayment(order)));
    });
    await followOutcomes(tx, context, connectionId, concerned, at);
    return { orders, hasSteps: concerned.length > 0 };
  });
  if (hasSteps) context.signals.send("deliveries_due", [connectionId]);
  return orders;
}

function sortOut(
  answered: readonly RespondedPayment[],
  now: Date,
): { settlements: PaymentOutcome[]; postponements: Postponement[] } {
  const settlements: PaymentOutcome[] = [];
  const postponements: Postponement[] = [];
  for (const { payment, answer } of answered) {
    switch (answer?.answer) {
      case "succeeded":
        settlements.push({ payment, outcome: "succeeded", reference: answer.reference, reason: null });
        break;
      case "declined":
        settlements.push({ payment, outcome: "failed", reference: null, reason: answer.reason });
        break;
      case "pending":
        postponements.push({ payment, dueAt: answer.recheckAt, reference: answer.reference });
        break;
      default:
        postponements.push({ payment, dueAt: afterUnknown(payment, now), reference: null });
    }
  }
  return { settlements, postponements };
}

const UNKNOWN_FIRST_MS = 5_000;
const UNKNOWN_MAX_MS = 10 * MINUTE_MS;

/** The same entry goes out again: soon at first, since most failures to hear an answer are short. */
const afterUnknown = ({ attemptCount }: ClaimedPayment, now: Date): Date =>
  new Date(now.getTime() + Math.min(UNKNOWN_MAX_MS, UNKNOWN_FIRST_MS * 2 ** (attemptCount - 1)));

/** What outcomes mean for their orders: holds, further attempts, refunds of what was canceled meanwhile. */
async function followOutcomes(
  tx: Queryable,
  context: Context,
  connectionId: string,
  concerned: readonly PaymentOutcome[],
  at: RecordContext,
): Promise<void> {
  if (concerned.length === 0) return;
  const orderIds = [...new Set(concerned.map(({ payment }) => payment.orderId))];
  const failed = concerned.filter(({ outcome }) => outcome === "failed");
  const failedIds = new Set(failed.map(({ payment }) => payment.entryId));
  const payable = await findPayable(tx, failed);
  const ledgerOf = await readLedgers(tx, connectionId, orderIds);
  const orders = await readOrders(tx, connectionId, orderIds);
  const entries = orders.flatMap((order) => {
    const ledger = ledgerOf(order.id);
    const declined = ledger.filter(({ id }) => failedIds.has(id));
    return entriesAfter(order, ledger, { declined, payable }, context, at).map((entry) => ({
      ...entry,
      orderId: order.id,
    }));
  });
  await insertEntries(tx, connectionId, entries, at);
  const paid = new Set(
    concerned.filter(({ outcome }) => outcome === "succeeded").map(({ payment }) => payment.orderId),
  );
  for (const order of orders)
    await holdOrRelease(tx, order, { ledger: ledgerOf(order.id), isPaid: paid.has(order.id) }, at);
}

function entriesAfter(
  order: Order,
  ledger: readonly LedgerEntry[],
  { declined, payable }: { declined: readonly LedgerEntry[]; payable: ReadonlySet<string> },
  { config, log }: Context,
  { now }: RecordContext,
): NewEntry[] {
  const canceled = wasCanceled(order);
  const further = declined.flatMap((entry) => {
    const when = { canceled, payable: payable.has(entry.id), waitsMs: config.paymentRetryMs, now };
    const next = attemptAfter(entry, ledger, when);
    // A charge shows as a hold on its order, unless that is settled or has left; a refund shows nowhere else. A
    // canceled order owes nothing.
    const isShown = !isSettled(order) && !hasLeft(order);
    const isOwed = !canceled && failedCharges(ledger).some(({ id }) => id === entry.id);
    if (next === null && (entry.kind === "refund" || (isOwed && !isShown)))
      log.error(
        { order: { id: order.id }, entry: { id: entry.id }, reason: entry.failureReason },
        `a ${entry.kind === "refund" ? "refund" : "charge"} was declined for the last time and waits for somebody to ask for it again`,
      );
    return next ?? [];
  });
  return [...(canceled ? refundsOwed(ledger, now) : []), ...further];
}

const hasLeft = ({ lines }: Order): boolean => lines.every(({ shipmentId }) => shipmentId !== null);

/**
 * Decision 0011: an order is held from a decline until it is paid. One that is settled is held no more, and one that has
 * left the house is not held for what is declined then: there is nothing to keep back, and nothing to cancel.
 */
async function holdOrRelease(
  tx: Queryable,
  order: Order,
  { ledger, isPaid }: { ledger: readonly LedgerEntry[]; isPaid: boolean },
  at: RecordContext,
): Promise<void> {
  const failed = hasFailedCharge(ledger);
  if (!failed && !isPaid) return; // A charge that was waived while a gateway was asked: whoever holds the order has a reason.
  if (isSettled(order) || failed === hasFailedPayment(order) || (failed && hasLeft(order))) return;
  const name = failed ? "addHold" : "releaseHold";
  const outcome = applyTransition(order, { name, reasons: [PAYMENT_FAILED] }, at.now);
  await storeOutcome(tx, order, outcome, { actor: SERVICE, action: name }, at);
}
