import {
  attemptAfter,
  failedCharges,
  hasFailedCharge,
  type LedgerEntry,
  type NewEntry,
  refundsOwed,
} from "../ledger/ledger.ts";
import { hasFailedPayment, isSettled, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { Order } from "../lifecycle/order.ts";

type PaidOrder = Pick<Order, "status" | "holdReasons" | "canceledAt" | "lines">;

/** Outcomes of one order that have just been recorded. */
export type RecordedOutcomes = {
  /** The order's ledger with these outcomes. */
  readonly ledger: readonly LedgerEntry[];
  /** Entries that were declined. */
  readonly declinedIds: ReadonlySet<string>;
  /** Those of them that could be paid now. */
  readonly payableIds: ReadonlySet<string>;
  /** Whether any charge succeeded. */
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
 * Whether a declined entry cannot be seen on its order. A refund never can. A charge shows as a hold, unless the order
 * is settled or has shipped. A canceled order owes no charges.
 */
function isHidden(order: PaidOrder, ledger: readonly LedgerEntry[], declined: LedgerEntry): boolean {
  if (declined.kind === "refund") return true;
  const isOwed = !wasCanceled(order) && failedCharges(ledger).some(({ id }) => id === declined.id);
  return isOwed && (isSettled(order) || hasShipped(order));
}

/**
 * Decision 0011: a declined charge holds the order until it is paid. An order that is settled, or whose last line has
 * shipped, is not held: there is nothing left to keep back or to cancel.
 */
function holdChangeOf(order: PaidOrder, { ledger, hasPaid }: RecordedOutcomes): Consequences["holdChange"] {
  const failed = hasFailedCharge(ledger);
  // The charge was waived while the gateway processed it. A hold that exists now was placed for another reason.
  if (!failed && !hasPaid) return null;
  if (isSettled(order) || failed === hasFailedPayment(order) || (failed && hasShipped(order))) return null;
  return failed ? "addHold" : "releaseHold";
}

const hasShipped = ({ lines }: Pick<Order, "lines">): boolean =>
  lines.every(({ shipmentId }) => shipmentId !== null);
