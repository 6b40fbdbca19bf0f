import { recordAudit } from "../../audit/record-audit.ts";
import { REFUNDS_MAX } from "../../ledger/refunds.ts";
import { applyTransition, asOf, type Outcome } from "../../lifecycle/lifecycle.ts";
import { HOLD_REASONS_MAX, type Order, type OrderKey, type TransitionRule } from "../../lifecycle/order.ts";
import { ADDRESS_CORRECTIONS_MAX, hasShipped, LINES_MAX } from "../../lifecycle/parts.ts";
import { holdsOf, reasonsToRelease } from "../../lifecycle/possible-transitions.ts";
import type { Context } from "../../platform/context.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { enumeration } from "../../platform/wire/schemas.ts";
import { markNotErased } from "../personal-data-sql.ts";
import { RETURNS_MAX } from "../returns/returns-sql.ts";
import { inSeenOrder, type Staff, storeOutcome } from "./change-order.ts";
import {
  countEntriesOf,
  insertTimelineEntries,
  REPEATABLE_CHANGES_MAX,
  readTimeline,
  withinTimeline,
} from "./timeline-sql.ts";

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
    // After goods have shipped, a merchant cannot cancel and be refunded (docs/design/people.md, "Roles and grants").
    if (by.actor.kind === "merchant" && hasShipped(order))
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
 * Releases reasons for which an order is on hold: the named ones, or all that the caller may release
 * (docs/design/lifecycle.md, "Holds"). All of the named ones are released, or none. An order without a hold does not change.
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
 * Adds a note of the staff to the timeline of an order, in any status (docs/design/lifecycle.md, "The timeline"). It changes
 * nothing else of the order. Partners do not see timelines. The erasure of personal data erases it. Under the order's lock, so
 * the limit is exact.
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

const DETAILS: Readonly<Record<TransitionRule, string>> = {
  order_on_hold: "An order on hold cannot be shipped.",
  unshipped_lines: "An order with an unshipped line cannot be completed.",
  order_settled:
    "The order is already completed, canceled or returned. It accepts only the return of a shipment.",
  no_shipment_out: "The order has no such shipment, or the shipment has already been returned or voided.",
  shipment_left:
    "The shipment has left: it was reported as shipped or delivered, or some of it came back. Record its return instead, or, if the carrier does not have it, set its status to `pending` first.",
  nothing_to_ship: "The order has no unshipped line, or one of the lines already has a shipment.",
  nothing_to_cancel: "One of the lines has shipped, or was canceled already.",
  whole_order: "Nothing of the order would be left. Cancel the order instead.",
  goods_unpaid:
    "The goods are not paid yet, so their price cannot be returned. Retry when their charge is paid; if it was declined, release that hold first, or cancel the order.",
  tracking_number_repeated:
    "The tracking number is already on another parcel that is on its way. If that is meant, say so with repeatedTrackingNumber.",
  too_many_lines: `An order has at most ${LINES_MAX} lines. Name whole lines instead of parts.`,
  not_cancelable: "The order cannot be canceled.",
  not_new: "The order is not NEW.",
  not_in_review: "The order is not in review.",
  not_accepted: "The order has not been accepted yet. It is in its cancel window or in review.",
  not_routed: "The order has not been routed to a facility yet. Retry in a few seconds.",
  nothing_to_pay: "The order has no unpaid charge or refund.",
  nothing_to_refund: "Nothing of the order has been charged, or all of it has been refunded.",
  too_many_returns: `The order has ${RETURNS_MAX} returns. Return whole shipments, without lines.`,
  too_many_refunds: `The order has ${REFUNDS_MAX} refunds by request. Refund all that is left at once.`,
  order_not_settled: "The order is not completed, canceled or returned yet.",
  already_shipped:
    "Part of the order has shipped. Only the operator can cancel it, and its address cannot be changed.",
  other_country:
    "The order is in progress, and keeps its facility and its price of shipping. Its address can be corrected within the country only.",
  shipping_charge_pending: "The charge for shipping is being processed. Retry when it is paid or declined.",
  too_many_corrections: `The address of the order was corrected ${ADDRESS_CORRECTIONS_MAX} times.`,
  hold_not_releasable:
    "The order is on hold for reasons that your role cannot release, or that must be named; placedBy of each hold shows who can.",
  too_many_hold_reasons: `An order can be on hold for at most ${HOLD_REASONS_MAX} reasons.`,
  too_many_changes: `The timeline of the order has ${REPEATABLE_CHANGES_MAX} entries. Operations that can be repeated without end are rejected; those that bring the order to its end are not.`,
};

/** What the sentences of rules about numbers contain. */
const MAXIMUMS: Readonly<Partial<Record<TransitionRule, number>>> = {
  too_many_lines: LINES_MAX,
  too_many_returns: RETURNS_MAX,
  too_many_refunds: REFUNDS_MAX,
  too_many_corrections: ADDRESS_CORRECTIONS_MAX,
  too_many_hold_reasons: HOLD_REASONS_MAX,
  too_many_changes: REPEATABLE_CHANGES_MAX,
};

/** The rule as a sentence for people. */
export const detailOf = (rule: TransitionRule): string => DETAILS[rule];

/** 409: the order's state does not allow the transition (docs/design/lifecycle.md, "Rejected transitions"). */
export const transitionRefused = (transition: string, order: Order, rule: TransitionRule): Problem => {
  const maximum = MAXIMUMS[rule];
  return {
    code: "transition-refused",
    detail: detailOf(rule),
    members: { transition, orderStatus: order.status, rule, ...(maximum !== undefined && { maximum }) },
  };
};

/** The order after an operation, or the problem if the lifecycle has rejected it. */
export const orderOrRefusal = (operation: string, outcome: Outcome): Order | Problem =>
  outcome.outcome === "applied" ? outcome.order : transitionRefused(operation, outcome.order, outcome.rule);

/** Every rule. */
export const TRANSITION_RULES = Object.keys(DETAILS) as TransitionRule[]; // The table's own keys.

/** The rules of test orders: the others belong to operations of the back office. */
export const SANDBOX_RULES = [
  "order_on_hold",
  "unshipped_lines",
  "order_settled",
  "no_shipment_out",
  "nothing_to_ship",
  "too_many_lines",
] as const satisfies readonly TransitionRule[];

/** The `rule` of a `transition-refused`. */
export const ruleSchema = (rules: readonly TransitionRule[]) =>
  enumeration(
    "TransitionRule",
    rules,
    [
      "The rule that forbids the transition. More values may be added.",
      ...rules.map((rule) => `\`${rule}\`: ${DETAILS[rule]}`),
    ].join(" "),
  );
