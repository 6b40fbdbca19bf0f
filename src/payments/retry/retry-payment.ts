import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { bringForward, hasScheduled } from "../../ledger/due-payments-sql.ts";
import { type Retries, retriesOf } from "../../ledger/ledger.ts";
import { insertEntries, readLedger } from "../../ledger/ledger-sql.ts";
import { type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { asOf, wasCanceled } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import { inSeenOrder, type Staff } from "../../orders/changes/change-order.ts";
import { transitionRefused } from "../../orders/changes/transition-refused.ts";
import { isTimelineFull } from "../../orders/timeline/repeatable-changes.ts";
import { insertTimelineEntries } from "../../orders/timeline/timeline-sql.ts";
import type { Context } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";

const OPERATION = "retryPayment";

/**
 * Makes the declined entries of an order due at once: its scheduled attempts, or one more after the end of the
 * schedule. For a canceled order, these are its refunds. Returns the order, or 409 `nothing_to_pay`. A retry is safe:
 * an attempt that is due or in progress stays the only one, and nothing changes.
 */
export function retryPayment(context: Context, staff: Staff, key: OrderKey): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, stored, at, by) => {
    const order = asOf(stored, at.now);
    const retries = await readRetries(tx, order, at);
    if (retries.add.length + retries.bringForward.length === 0)
      return transitionRefused(OPERATION, order, "nothing_to_pay");
    const waiting = retries.bringForward.map(({ id }) => id);
    if (retries.add.length === 0 && !(await hasScheduled(tx, order, order.id, waiting, at.now))) return order;
    if (await isTimelineFull(tx, order)) return transitionRefused(OPERATION, order, "too_many_changes");
    await storeRetries(tx, order, retries, by, at);
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, at, by, { merchantId, connectionId, subject: "ord", ids: [id] });
    return order;
  });
}

/** What of an order can be paid again at once. The caller has locked the order. */
export async function readRetries(tx: Queryable, order: Order, at: RecordContext): Promise<Retries> {
  return retriesOf(await readLedger(tx, order, order.id), wasCanceled(order), at.now);
}

/** @param by null: the service itself, as a consequence of another operation, which has its own audit entry */
export async function storeRetries(
  tx: Queryable,
  order: Order,
  retries: Retries,
  by: Initiator | null,
  at: RecordContext,
): Promise<void> {
  const requestId = by?.requestId ?? null;
  const waiting = retries.bringForward.map(({ id }) => id);
  await bringForward(tx, order, order.id, waiting, at.now);
  await insertEntries(
    tx,
    retries.add.map((entry) => ({ ...entry, order, id: at.newId(), requestId })),
    at.now,
  );
  const cause = { actor: by?.actor ?? SERVICE, operation: OPERATION, requestId };
  await insertTimelineEntries(tx, [{ order, cause, shipmentId: null }], at);
}
