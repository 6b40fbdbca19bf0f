import { recordAudit } from "../../audit/record-audit.ts";
import { holdsOf, reasonsToRelease } from "../../lifecycle/holds.ts";
import { applyTransition, asOf } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import type { Context } from "../../platform/context.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { markNotErased } from "../personal-data/personal-data-sql.ts";
import { withinTimeline } from "../timeline/repeatable-changes.ts";
import { countEntriesOf, insertTimelineEntries, readTimeline } from "../timeline/timeline-sql.ts";
import { inSeenOrder, type Staff, storeOutcome } from "./change-order.ts";
import { orderOrRefusal, transitionRefused } from "./transition-refused.ts";

// What people do with a real order in the back office, on the lifecycle that the sandbox rehearses. Retries are safe.

/** Accepts an order in review. Its goods are charged. */
export function approveOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  detail: string | null,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const outcome = applyTransition(order, { name: "approve" }, at.now);
    await storeOutcome(tx, order, outcome, { operation: "approve", by, detail }, at);
    return orderOrRefusal("approve", outcome);
  });
}

/** Cancels an order in review. It was never charged. */
export function rejectOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  detail: string | null,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const outcome = applyTransition(order, { name: "reject" }, at.now);
    await storeOutcome(tx, order, outcome, { operation: "reject", by, detail }, at);
    return orderOrRefusal("reject", outcome);
  });
}

/** Cancels an order from any status that is not settled, and refunds the merchant. */
export function cancelByStaff(
  context: Context,
  staff: Staff,
  key: OrderKey,
  detail: string | null,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    // After goods have shipped, a merchant cannot cancel and be refunded (decision 0038).
    if (by.actor.kind === "merchant" && order.shipments.length > 0)
      return transitionRefused("cancel", order, "already_shipped");
    const outcome = applyTransition(order, { name: "cancel" }, at.now);
    await storeOutcome(tx, order, outcome, { operation: "cancel", by, detail }, at);
    return orderOrRefusal("cancel", outcome);
  });
}

/** Adds reasons for a hold. Those of others stay. */
export function holdOrder(
  context: Context,
  staff: Staff,
  key: OrderKey,
  reasons: readonly string[],
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const outcome = await withinTimeline(tx, applyTransition(order, { name: "hold", reasons }, at.now));
    await storeOutcome(tx, order, outcome, { operation: "hold", by }, at);
    return orderOrRefusal("hold", outcome);
  });
}

/**
 * Releases reasons for which an order is on hold: the named ones, or all that the caller may release (decision 0093). All
 * of the named ones are released, or none. An order without a hold does not change.
 */
export function releaseHold(
  context: Context,
  staff: Staff,
  key: OrderKey,
  named: readonly string[] | undefined,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const isHeld = order.holdReasons.length > 0;
    const holds = isHeld ? holdsOf(order, await readTimeline(tx, order, order.id)) : [];
    const { released, forbidden } = reasonsToRelease(holds, named, by.actor.kind);
    if (forbidden.length > 0 || (named === undefined && isHeld && released.length === 0))
      return transitionRefused("releaseHold", asOf(order, at.now), "hold_not_releasable");
    const outcome = applyTransition(order, { name: "releaseHold", reasons: released }, at.now);
    await storeOutcome(tx, order, outcome, { operation: "releaseHold", by }, at);
    return orderOrRefusal("releaseHold", outcome);
  });
}

/** Completes an order of which every line has a shipment. */
export function completeOrder(context: Context, staff: Staff, key: OrderKey): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, order, at, by) => {
    const outcome = applyTransition(order, { name: "complete" }, at.now);
    await storeOutcome(tx, order, outcome, { operation: "complete", by }, at);
    return orderOrRefusal("complete", outcome);
  });
}

/** The name of a note in the timeline. */
const NOTE = "note";

/** Notes of one order. */
export const NOTES_MAX = 100;

const NO_MORE_NOTES: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${NOTES_MAX} notes of an order is reached.`,
  members: { limit: "orderNotes", maximum: NOTES_MAX },
};

/**
 * Adds a note of the staff to the timeline of an order, in any status (decision 0138). It changes nothing else of the
 * order. Partners do not see timelines. The erasure of personal data erases it. Under the order's lock, so the limit is
 * exact.
 */
export function addNote(
  context: Context,
  staff: Staff,
  key: OrderKey,
  text: string,
): Promise<Order | Problem> {
  return inSeenOrder(context, staff, key, async (tx, stored, at, by) => {
    if ((await countEntriesOf(tx, stored, NOTE, NOTES_MAX)) >= NOTES_MAX) return NO_MORE_NOTES;
    const order = asOf(stored, at.now);
    const { actor, requestId } = by;
    const cause = { actor, operation: NOTE, requestId, detail: text };
    await insertTimelineEntries(tx, [{ order, cause, shipmentId: null }], at);
    await markNotErased(tx, order);
    const { merchantId, connectionId, id } = order;
    await recordAudit(tx, at, by, { merchantId, connectionId, subject: "ord", ids: [id] });
    return order;
  });
}
