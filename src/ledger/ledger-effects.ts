import { hasFailedPayment, isSettled, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { OrderState } from "../lifecycle/order.ts";

export type ChangedOrder = { readonly before: OrderState; readonly after: OrderState };

/**
 * What a transition means for the money of its order; null: nothing. A canceled order is refunded. An order that is
 * released although its payment failed proceeds unpaid: what was declined is waived. Test orders are never charged.
 */
export function ledgerEffectOf({ before, after }: ChangedOrder): "refund" | "waive" | null {
  if (after.testMode) return null;
  if (wasCanceled(after)) return wasCanceled(before) ? null : "refund";
  return hasFailedPayment(before) && !hasFailedPayment(after) && !isSettled(after) ? "waive" : null;
}
