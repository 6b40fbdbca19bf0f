import {
  endClaims,
  insertOutcomes,
  type PaymentOutcome,
  postponePayments,
} from "../ledger/due-payments-sql.ts";
import { insertEntries, readLedgersByKey } from "../ledger/ledger-sql.ts";
import { type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import { PAYMENT_FAILED } from "../lifecycle/hold-reasons.ts";
import {
  appliedTransitions,
  applyTransition,
  hasFailedPayment,
  wasCanceled,
} from "../lifecycle/lifecycle.ts";
import type { OrderKey, OrderState } from "../lifecycle/order.ts";
import { lockFreeOrders, lockOrderState } from "../orders/changes/lock-orders-sql.ts";
import { storeTransitions } from "../orders/changes/store-transitions.ts";
import { readOrdersByKey } from "../orders/orders-sql.ts";
import { type ConnectionKey, distinctConnections } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, type Queryable } from "../platform/database/database.ts";
import { planBatch } from "../platform/database/transaction-settings.ts";
import { toTypeId } from "../platform/ids.ts";
import { inBatches, inParts } from "../platform/run-in-turn.ts";
import { findPayable } from "./account/find-payable.ts";
import { consequencesOf } from "./evaluate-outcomes.ts";
import { evaluateResponses, isDeclined, type RespondedPayment } from "./evaluate-responses.ts";
import { recordFailures } from "./failure-mails/record-failures.ts";

/**
 * Declines recorded in one transaction. Each needs several statements for its order, and a partner's cancel waits for
 * all of them.
 */
const DECLINES_MAX = 50;

/** The outcome of an order's payments that could not be recorded. They are sent again when the claim expires. */
class RecordFailure extends Error {
  constructor(orderId: string, cause: unknown) {
    super(`Payments of order ${toTypeId("ord", orderId)} could not be recorded.`, { cause });
  }
}

/** The responses to all payments of one order in a batch. */
type OrderResponses = { readonly order: OrderKey; readonly responded: readonly RespondedPayment[] };

/**
 * Records a gateway's responses to payments of one claim, with all their consequences for the orders. A worker that has
 * lost the claim changes nothing. What could not be recorded is skipped and added to the run's failures.
 */
export async function recordResponses(
  context: Context,
  responded: readonly RespondedPayment[],
  failures: unknown[],
): Promise<void> {
  const others = responded.filter((each) => !isDeclined(each));
  const declined = responded.filter(isDeclined);
  for (const batch of [others, ...inBatches(declined, DECLINES_MAX)])
    await recordBatch(context, byOrder(batch), failures);
}

const byOrder = (responded: readonly RespondedPayment[]): OrderResponses[] =>
  [...Map.groupBy(responded, ({ payment }) => payment.orderId)].flatMap(([id, ofOrder]) => {
    const [first] = ofOrder;
    return first === undefined ? [] : [{ order: { ...keyOf(first.payment), id }, responded: ofOrder }];
  });

const keyOf = ({ merchantId, connectionId }: ConnectionKey): ConnectionKey => ({ merchantId, connectionId });

/**
 * Records the responses for all orders that are not locked in one transaction, and for each locked order in a
 * transaction of its own, so that no order stays locked while another one is waited for. If the transaction fails,
 * records the responses in smaller parts, and at last for each order alone (decision 0069).
 */
async function recordBatch(
  context: Context,
  orders: readonly OrderResponses[],
  failures: unknown[],
): Promise<void> {
  if (orders.length === 0) return;
  let recorded: OrderStates;
  try {
    recorded = await recordUnderLock(context, orders, (tx) => lockFreeOrders(tx, orders.map(orderOf)));
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    const [first] = orders;
    if (orders.length > 1) for (const part of inParts(orders)) await recordBatch(context, part, failures);
    else if (first !== undefined) failures.push(new RecordFailure(first.order.id, error));
    return;
  }
  for (const each of orders) if (!recorded.has(each.order.id)) await recordLocked(context, each, failures);
}

/** Waits until an order is no longer locked. */
async function recordLocked(context: Context, each: OrderResponses, failures: unknown[]): Promise<void> {
  const { order } = each;
  try {
    await recordUnderLock(context, [each], (tx) => lockOrderState(tx, order, order.id));
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    failures.push(new RecordFailure(order.id, error));
  }
}

const orderOf = ({ order }: OrderResponses): OrderKey => order;

type OrderStates = ReadonlyMap<string, OrderState>;

/**
 * Records responses in one transaction, for the orders that `lock` locks. Returns these. The orders are locked first,
 * as in every transition, so either this sees a cancel, or the cancel sees what this records.
 */
async function recordUnderLock(
  context: Context,
  responses: readonly OrderResponses[],
  lock: (tx: Queryable) => Promise<OrderState[]>,
): Promise<OrderStates> {
  const { orders, changed } = await inTransaction(context, async (tx) => {
    await planBatch(tx);
    const orders: OrderStates = new Map((await lock(tx)).map((order) => [order.id, order]));
    const at = { newId: context.newId, now: context.clock.now() };
    const ofLocked = responses.filter(({ order }) => orders.has(order.id));
    const { outcomes, postponements } = evaluateResponses(
      ofLocked.flatMap(({ responded }) => responded),
      at.now,
    );
    const recorded = await endClaims(tx, outcomes);
    await insertOutcomes(tx, recorded, at.now);
    await postponePayments(tx, postponements);
    const concerning = recorded.filter((outcome) => concernsOrder(outcome, orders));
    if (concerning.length > 0) await applyConsequences(tx, context, concerning, at);
    return { orders, changed: concerning.map(({ payment }) => keyOf(payment)) };
  });
  context.signals.send("deliveries_due", distinctConnections(changed));
  context.signals.sendOrders(orders.values());
  return orders;
}

/**
 * A charge that succeeds changes only the ledger, unless its order is canceled or held for payment, or an earlier attempt
 * failed.
 */
function concernsOrder({ outcome, payment }: PaymentOutcome, orders: OrderStates): boolean {
  const order = orders.get(payment.orderId);
  if (payment.kind !== "refund" && payment.attempt > 1) return true;
  return outcome === "failed" || (order !== undefined && (wasCanceled(order) || hasFailedPayment(order)));
}

async function applyConsequences(
  tx: Queryable,
  context: Context,
  outcomes: readonly PaymentOutcome[],
  at: RecordContext,
): Promise<void> {
  const ofOrder = Map.groupBy(outcomes, ({ payment }) => payment.orderId);
  const keys = [...ofOrder].flatMap(([id, [first]]) =>
    first === undefined ? [] : [{ ...keyOf(first.payment), id }],
  );
  const payableIds = await findPayable(tx, outcomes);
  const ledgerOf = await readLedgersByKey(tx, keys);
  const orders = await readOrdersByKey(tx, keys);
  const consequences = orders.map((order) => {
    const recorded = { ledger: ledgerOf(order.id), payableIds, ...summaryOf(ofOrder.get(order.id) ?? []) };
    return {
      order,
      recorded,
      ...consequencesOf(order, recorded, { retryMs: context.config.paymentRetryMs, now: at.now }),
    };
  });
  const entries = consequences.flatMap(({ order, entries }) =>
    entries.map((entry) => ({ ...entry, order, id: at.newId(), requestId: null })),
  );
  await insertEntries(tx, entries, at.now);
  await recordFailures(tx, consequences, at);
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
  hasPaid: outcomes.some(({ outcome, payment }) => outcome === "succeeded" && payment.kind !== "refund"),
});
