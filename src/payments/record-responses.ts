import {
  endClaims,
  insertOutcomes,
  type PaymentOutcome,
  postponePayments,
} from "../ledger/due-payments-sql.ts";
import { insertEntries, readLedgers } from "../ledger/ledger-sql.ts";
import { appliedTransitions, type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import { PAYMENT_FAILED } from "../lifecycle/hold-reasons.ts";
import { applyTransition, hasFailedPayment, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { OrderState } from "../lifecycle/order.ts";
import { lockFreeOrders, lockOrderState } from "../orders/changes/lock-orders-sql.ts";
import { storeTransitions } from "../orders/changes/store-transitions.ts";
import { readOrders } from "../orders/orders-sql.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { findPayable } from "./account/find-payable.ts";
import { consequencesOf } from "./evaluate-outcomes.ts";
import { evaluateResponses, isDeclined, type RespondedPayment } from "./evaluate-responses.ts";

/** Declines in one transaction. Each needs several statements for its order, and a partner's cancel waits for all of them. */
const DECLINES_MAX = 50;

/**
 * Records a gateway's responses to payments of one claim, with all their consequences for the orders. A worker that has
 * lost the claim changes nothing.
 */
export async function recordResponses(
  context: Context,
  connection: ConnectionKey,
  responded: readonly RespondedPayment[],
): Promise<void> {
  const others = responded.filter((each) => !isDeclined(each));
  if (others.length > 0) await recordBatch(context, connection, others);
  const declined = responded.filter(isDeclined);
  for (let start = 0; start < declined.length; start += DECLINES_MAX)
    await recordBatch(context, connection, declined.slice(start, start + DECLINES_MAX));
}

/**
 * Records the responses for all orders that are not locked in one transaction, and for each locked order in a transaction
 * of its own, so that no order stays locked while another one is waited for.
 */
async function recordBatch(
  context: Context,
  connection: ConnectionKey,
  responded: readonly RespondedPayment[],
): Promise<void> {
  const byOrder = Map.groupBy(responded, ({ payment }) => payment.orderId);
  const recorded = await recordUnderLock(context, connection, responded, (tx) =>
    lockFreeOrders(tx, connection, [...byOrder.keys()]),
  );
  for (const [orderId, ofOrder] of byOrder)
    if (!recorded.has(orderId))
      await recordUnderLock(context, connection, ofOrder, (tx) => lockOrderState(tx, connection, orderId));
}

type OrderStates = ReadonlyMap<string, OrderState>;

/**
 * Records responses in one transaction, for the orders that `lock` locks; returns these. The orders' locks come first, as
 * in every transition, so a cancel is either visible here or sees what is recorded here.
 */
async function recordUnderLock(
  context: Context,
  connection: ConnectionKey,
  responded: readonly RespondedPayment[],
  lock: (tx: Queryable) => Promise<OrderState[]>,
): Promise<OrderStates> {
  const { orders, hasTransitions } = await inTransaction(context, async (tx) => {
    const orders: OrderStates = new Map((await lock(tx)).map((order) => [order.id, order]));
    const at = { newId: context.newId, now: context.clock.now() };
    const ofLocked = responded.filter(({ payment }) => orders.has(payment.orderId));
    const { outcomes, postponements } = evaluateResponses(ofLocked, at.now);
    const recorded = await endClaims(tx, connection, outcomes);
    await insertOutcomes(tx, connection, recorded, at.now);
    await postponePayments(tx, connection, postponements);
    const concerning = recorded.filter((outcome) => concernsOrder(outcome, orders));
    if (concerning.length > 0) await applyConsequences(tx, context, connection, concerning, at);
    return { orders, hasTransitions: concerning.length > 0 };
  });
  if (hasTransitions) context.signals.send("deliveries_due", [connection]);
  return orders;
}

/** A charge that succeeds for an order that is neither canceled nor held for payment changes only the ledger. */
function concernsOrder({ outcome, payment }: PaymentOutcome, orders: OrderStates): boolean {
  const order = orders.get(payment.orderId);
  return outcome === "failed" || (order !== undefined && (wasCanceled(order) || hasFailedPayment(order)));
}

async function applyConsequences(
  tx: Queryable,
  context: Context,
  connection: ConnectionKey,
  outcomes: readonly PaymentOutcome[],
  at: RecordContext,
): Promise<void> {
  const byOrder = Map.groupBy(outcomes, ({ payment }) => payment.orderId);
  const orderIds = [...byOrder.keys()];
  const payableIds = await findPayable(tx, outcomes);
  const ledgerOf = await readLedgers(tx, connection, orderIds);
  const orders = await readOrders(tx, connection, orderIds);
  const consequences = orders.map((order) => {
    const recorded = { ledger: ledgerOf(order.id), payableIds, ...summaryOf(byOrder.get(order.id) ?? []) };
    return {
      order,
      ...consequencesOf(order, recorded, { retryMs: context.config.paymentRetryMs, now: at.now }),
    };
  });
  const entries = consequences.flatMap(({ order, entries }) =>
    entries.map((entry) => ({ ...entry, order, id: at.newId() })),
  );
  await insertEntries(tx, entries, at.now);
  const transitions = consequences.flatMap(({ order, holdChange }) => {
    if (holdChange === null) return [];
    const outcome = applyTransition(order, { name: holdChange, reasons: [PAYMENT_FAILED] }, at.now);
    return appliedTransitions(order, outcome, { actor: SERVICE, operation: holdChange });
  });
  await storeTransitions(tx, transitions, at);
  for (const { order, exhausted } of consequences)
    for (const { id, kind, failureReason } of exhausted)
      context.log.error(
        { order: { id: order.id }, entry: { id, kind }, reason: failureReason },
        "payment declined, no attempts left",
      );
}

const summaryOf = (outcomes: readonly PaymentOutcome[]) => ({
  declinedIds: new Set(
    outcomes.filter(({ outcome }) => outcome === "failed").map(({ payment }) => payment.entryId),
  ),
  hasSucceeded: outcomes.some(({ outcome }) => outcome === "succeeded"),
});
