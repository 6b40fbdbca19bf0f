import { hasFailedPayment, isSettled, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { OrderState } from "../lifecycle/order.ts";

export type ChangedOrder = {
  readonly before: OrderState;
  readonly after: OrderState;
  /** As in `x-request-id`. Absent or null: no request caused the change. */
  readonly requestId?: string | null;
};

/** A real order that needs no review is charged for its goods at once, one in review when it leaves it (decision 0090). */
export const isChargedAtCreation = ({ testMode, status }: Pick<OrderState, "testMode" | "status">): boolean =>
  !testMode && status !== "PROCESSING";

/**
 * The effect of a transition on the ledger. Null if there is none. An order that leaves the review is charged for its
 * goods, unless it is rejected (decision 0090). A canceled order is refunded. If an order is released although its payment has failed, the declined charges are waived. Test orders are never charged.
 */
export function ledgerEffectOf({ before, after }: ChangedOrder): "charge" | "refund" | "waive" | null {
  if (after.testMode) return null;
  if (wasCanceled(after)) return wasCanceled(before) ? null : "refund";
  if (before.status === "PROCESSING" && after.status !== "PROCESSING") return "charge";
  return hasFailedPayment(before) && !hasFailedPayment(after) && !isSettled(after) ? "waive" : null;
}
