import type { AppliedTransition, RecordContext } from "../lifecycle/applied-transition.ts";
import { hasFailedPayment, isSettled, wasCanceled } from "../lifecycle/lifecycle.ts";
import type { Order } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import { failedCharges, type NewEntry, refundsOwed, waivers } from "./ledger.ts";
import { cancelUnsentEntries, insertEntries, readLedger } from "./ledger-sql.ts";

/**
 * What a transition of an order means for its money, in the same transaction and under the order's lock. A payment that
 * is being sent to a gateway is left to its worker: recording the response takes the order's lock too, and then sees
 * the current order.
 */
export async function followOrder(
  tx: Queryable,
  { before, after }: Pick<AppliedTransition, "before" | "after">,
  at: RecordContext,
): Promise<void> {
  if (after.testMode) return;
  if (wasCanceled(after) && !wasCanceled(before)) return giveBack(tx, after, at);
  if (hasFailedPayment(before) && !hasFailedPayment(after) && !isSettled(after)) await waive(tx, after, at);
}

/** A canceled order is no longer charged, and what was charged goes back. */
async function giveBack(tx: Queryable, order: Order, at: RecordContext): Promise<void> {
  await cancelUnsentEntries(tx, order, ["goods", "shipping", "refund"], at.now);
  await add(tx, order, refundsOwed(await readLedger(tx, order, order.id), at.now), at);
}

/**
 * Releasing the hold of a failed payment waives what was declined: it is not charged any more (decision 0041). After a
 * payment nothing is left to waive.
 */
async function waive(tx: Queryable, order: Order, at: RecordContext): Promise<void> {
  const read = () => readLedger(tx, order, order.id);
  const kinds = failedCharges(await read()).map(({ kind }) => kind);
  if (kinds.length === 0) return;
  await cancelUnsentEntries(tx, order, kinds, at.now);
  await add(tx, order, waivers(await read(), at.now), at);
  await cancelUnsentEntries(tx, order, kinds, at.now);
}

const add = (tx: Queryable, order: Order, entries: readonly NewEntry[], at: RecordContext): Promise<void> =>
  insertEntries(
    tx,
    order,
    entries.map((entry) => ({ ...entry, orderId: order.id })),
    at,
  );
