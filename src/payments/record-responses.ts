import {
  type ClaimedPayment,
  type PaymentOutcome,
  type Postponement,
  postponePayments,
  recordOutcomes,
} from "../ledger/due-payments-sql.ts";
import {
  attemptAfter,
  failedCharges,
  type GatewayName,
  hasFailedCharge,
  type LedgerEntry,
  type NewEntry,
  refundsOwed,
} from "../ledger/ledger.ts";
import { insertEntries, readLedgersByKey } from "../ledger/ledger-sql.ts";
import { type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import {
  appliedTransitions,
  applyTransition,
  hasFailedPayment,
  isSettled,
  wasCanceled,
} from "../lifecycle/lifecycle.ts";
import { type Order, type OrderKey, type OrderState, PAYMENT_FAILED } from "../lifecycle/order.ts";
import { isOpen } from "../lifecycle/parts.ts";
import { storeTransitions } from "../orders/changes/store-transitions.ts";
import { lockFreeOrders, lockOrderState, readOrdersByKey } from "../orders/orders-sql.ts";
import { type ConnectionKey, distinctConnections } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isOutOfReach, planBatch, type Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import { inBatches, inParts } from "../platform/run-in-turn.ts";
import { after, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { lockAccountsShared } from "./account/account-sql.ts";
import { CREDIT_LIMIT_EXCEEDED, isAffordable } from "./account/bookings.ts";
import { recordFailures } from "./failure-mails.ts";

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
 * Records the responses for all orders that are not locked in one transaction, and for each locked order in a transaction of
 * its own, so that no order stays locked while another one is waited for. If the transaction fails, records the responses in
 * smaller parts, and at last for each order alone (docs/design/database.md, "Shared batches").
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
    const recorded = await recordOutcomes(tx, outcomes, at.now);
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

type PaidOrder = Pick<Order, "status" | "holdReasons" | "canceledAt" | "lines">;

/** Outcomes of one order that have just been recorded. */
export type RecordedOutcomes = {
  /** The order's ledger with these outcomes. */
  readonly ledger: readonly LedgerEntry[];
  /** Entries that were declined. */
  readonly declinedIds: ReadonlySet<string>;
  /** Those of them that could be paid now. */
  readonly payableIds: ReadonlySet<string>;
  /** True if any charge succeeded. */
  readonly hasPaid: boolean;
};

/** The consequences of recorded outcomes for their order. */
export type Consequences = {
  /** Entries to add: further attempts, and refunds of a canceled order. */
  readonly entries: readonly NewEntry[];
  /** Declined entries without a further attempt that no hold shows. They are logged for the operator. */
  readonly exhausted: readonly LedgerEntry[];
  /** How the hold for a failed payment changes. Null if it does not. */
  readonly holdChange: "addHold" | "releaseHold" | null;
};

export function consequencesOf(
  order: PaidOrder,
  outcomes: RecordedOutcomes,
  { retryMs, now }: { retryMs: readonly number[]; now: Date },
): Consequences {
  const canceled = wasCanceled(order);
  const attempts = outcomes.ledger
    .filter(({ id }) => outcomes.declinedIds.has(id))
    .map((declined) => {
      const payable = outcomes.payableIds.has(declined.id);
      return {
        declined,
        next: attemptAfter(declined, outcomes.ledger, { canceled, payable, waitsMs: retryMs, now }),
      };
    });
  return {
    entries: [
      ...(canceled ? refundsOwed(outcomes.ledger, now) : []),
      ...attempts.flatMap(({ next }) => next ?? []),
    ],
    exhausted: attempts
      .filter(({ declined, next }) => next === null && isHidden(order, outcomes.ledger, declined))
      .map(({ declined }) => declined),
    holdChange: holdChangeOf(order, outcomes),
  };
}

/**
 * True if a declined entry cannot be seen on its order. A refund never can. A charge shows as a hold, unless the order
 * is settled or has shipped. A canceled order owes no charges.
 */
function isHidden(order: PaidOrder, ledger: readonly LedgerEntry[], declined: LedgerEntry): boolean {
  if (declined.kind === "refund") return true;
  const isOwed = !wasCanceled(order) && failedCharges(ledger).some(({ id }) => id === declined.id);
  return isOwed && (isSettled(order) || hasShipped(order));
}

/**
 * docs/design/lifecycle.md, "A failed payment is a hold": a declined charge holds the order until it is paid. An order that is
 * settled, or whose last line has shipped, is not held: there is nothing left to keep back or to cancel.
 */
function holdChangeOf(order: PaidOrder, { ledger, hasPaid }: RecordedOutcomes): Consequences["holdChange"] {
  const failed = hasFailedCharge(ledger);
  // The charge was waived while the gateway processed it. A hold that exists now was placed for another reason.
  if (!failed && !hasPaid) return null;
  if (isSettled(order) || failed === hasFailedPayment(order) || (failed && hasShipped(order))) return null;
  return failed ? "addHold" : "releaseHold";
}

const hasShipped = ({ lines }: Pick<Order, "lines">): boolean => !lines.some(isOpen);

/** A payment and its gateway's response. Null if the outcome is unknown. */
export type RespondedPayment = {
  readonly payment: ClaimedPayment;
  readonly response: GatewayResponse | null;
};

export const isDeclined = ({ response }: RespondedPayment): boolean => response?.status === "declined";

/** Separates payments with an outcome from those that must be sent or checked again. */
export function evaluateResponses(
  responded: readonly RespondedPayment[],
  now: Date,
): { outcomes: PaymentOutcome[]; postponements: Postponement[] } {
  const outcomes: PaymentOutcome[] = [];
  const postponements: Postponement[] = [];
  for (const { payment, response } of responded) {
    switch (response?.status) {
      case "succeeded":
        outcomes.push({ payment, outcome: "succeeded", reference: response.reference, reason: null });
        break;
      case "declined":
        outcomes.push({ payment, outcome: "failed", reference: null, reason: response.reason });
        break;
      case "pending":
        postponements.push({ payment, dueAt: response.recheckAt, reference: response.reference });
        break;
      default:
        postponements.push({ payment, dueAt: retryAfterUnknown(payment, now), reference: null });
    }
  }
  return { outcomes, postponements };
}

const UNKNOWN_FIRST_MS = 5 * SECOND_MS;
const UNKNOWN_MAX_MS = 10 * MINUTE_MS;

/** When an entry with an unknown outcome is sent again: soon at first, because most causes are short. */
const retryAfterUnknown = ({ attemptCount }: ClaimedPayment, now: Date): Date =>
  after(now, Math.min(UNKNOWN_MAX_MS, UNKNOWN_FIRST_MS * 2 ** (attemptCount - 1)));

/** A gateway's response to a charge or a refund. */
export type GatewayResponse =
  /** The money has moved. `reference` is the gateway's id of the payment. A refund of the charge needs it. */
  | { readonly status: "succeeded"; readonly reference: string }
  /** The money has not moved and never will under this entry's id. `reason` is the gateway's code. */
  | { readonly status: "declined"; readonly reason: string }
  /** No outcome yet. The payment is checked again at `recheckAt`, or earlier if the gateway sends an event about it. */
  | { readonly status: "pending"; readonly reference: string; readonly recheckAt: Date };

/**
 * Moves money. The entry's id is the idempotency key: however often the same entry is sent, even concurrently, its money moves
 * at most once. An exception means that the outcome is unknown: the same entry is sent again later, and never counts as failed
 * (docs/design/money.md, "Each payment happens once").
 */
export type Gateway = {
  readonly name: GatewayName;
  /** Payments in one batch, which are sent at the same time. Connections share it. */
  readonly batchSize: number;
  /** Batches that are sent at the same time. */
  readonly concurrency: number;
  charge(payment: ClaimedPayment): Promise<GatewayResponse>;
  refund(payment: ClaimedPayment): Promise<GatewayResponse>;
};

/**
 * Returns the entry ids of those charges that their merchants' accounts declined and could pay by now. Runs in the
 * transaction that records the declines, under locks of the accounts: a payment to an account either is visible here, or
 * sees what is recorded here and retries it.
 */
async function findPayable(tx: Queryable, outcomes: readonly PaymentOutcome[]): Promise<ReadonlySet<string>> {
  const declined = outcomes
    .filter(({ payment, reason }) => payment.gateway === "account" && reason === CREDIT_LIMIT_EXCEEDED)
    .map(({ payment }) => payment);
  const locked = await lockAccountsShared(tx, [...new Set(declined.map(({ merchantId }) => merchantId))]);
  const accounts = new Map(locked.map((account) => [account.merchantId, account]));
  const payable = declined.filter(({ merchantId, amountMinor }) => {
    const account = accounts.get(merchantId);
    return account !== undefined && isAffordable(account, { kind: "charge", amountMinor });
  });
  return new Set(payable.map(({ entryId }) => entryId));
}
