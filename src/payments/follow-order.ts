import type { Queryable } from "../database/database.ts";
import { wasCanceled } from "../orders/lifecycle.ts";
import type { OrderStep, StepContext } from "../orders/order-step.ts";
import { refundsOwed } from "./ledger.ts";
import { cancelUnsentEntries, insertEntries, readLedger } from "./ledger-sql.ts";

/**
 * What a step of an order means for its money, in the step's transaction and under the order's lock. A canceled order
 * is no longer charged, and what was charged goes back. What a gateway is being asked about just now is left to whoever
 * asks: recording the answer takes the order's lock too, and then sees that the order was canceled.
 */
export async function followOrder(
  tx: Queryable,
  { before, after }: Pick<OrderStep, "before" | "after">,
  context: StepContext,
): Promise<void> {
  if (after.testMode || !wasCanceled(after) || wasCanceled(before)) return;
  const { connectionId, id: orderId } = after;
  await cancelUnsentEntries(tx, connectionId, orderId, context.now);
  const refunds = refundsOwed(await readLedger(tx, connectionId, orderId), context.now);
  await insertEntries(
    tx,
    connectionId,
    refunds.map((refund) => ({ ...refund, orderId })),
    context,
  );
}
