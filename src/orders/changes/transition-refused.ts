import { ADDRESS_CORRECTIONS_MAX } from "../../lifecycle/corrected-address.ts";
import { HOLD_REASONS_MAX } from "../../lifecycle/hold-reasons.ts";
import type { Outcome } from "../../lifecycle/lifecycle.ts";
import { LINES_MAX } from "../../lifecycle/lines.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { TransitionRule } from "../../lifecycle/transition.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { enumeration } from "../../platform/wire/schemas.ts";
import { RETURNS_MAX } from "../returns/order-return.ts";
import { REPEATABLE_CHANGES_MAX } from "../timeline/repeatable-changes.ts";

const DETAILS: Readonly<Record<TransitionRule, string>> = {
  order_on_hold: "An order on hold cannot be shipped.",
  unshipped_lines: "An order with an unshipped line cannot be completed.",
  order_settled:
    "The order is already completed, canceled or returned. It accepts only the return of a shipment.",
  no_shipment_out: "The order has no such shipment, or the shipment has already been returned.",
  nothing_to_ship: "The order has no unshipped line, or one of the lines already has a shipment.",
  too_many_lines: `An order has at most ${LINES_MAX} lines. Ship whole lines instead of parts.`,
  not_cancelable: "The order cannot be canceled.",
  not_new: "The order is not NEW.",
  not_in_review: "The order is not in review.",
  not_accepted: "The order has not been accepted yet. It is in its cancel window or in review.",
  not_routed: "The order has not been routed to a facility yet. Retry in a few seconds.",
  nothing_to_pay: "The order has no unpaid charge or refund.",
  nothing_to_refund: "Nothing of the order has been charged, or all of it has been refunded.",
  too_many_returns: `The order has ${RETURNS_MAX} returns. Return whole shipments, without lines.`,
  too_many_refunds: "The order has 100 refunds by request. Refund all that is left, without an amount.",
  order_not_settled: "The order is not completed, canceled or returned yet.",
  already_shipped:
    "Part of the order has shipped. Only the operator can cancel it, and its address cannot be changed.",
  shipping_charge_pending: "The charge for shipping is being processed. Retry when it is paid or declined.",
  too_many_corrections: `The address of the order was corrected ${ADDRESS_CORRECTIONS_MAX} times.`,
  hold_not_releasable:
    "The order is on hold for reasons that your role cannot release, or that must be named; placedBy of each hold shows who can.",
  too_many_hold_reasons: `An order can be on hold for at most ${HOLD_REASONS_MAX} reasons.`,
  too_many_changes: `The timeline of the order has ${REPEATABLE_CHANGES_MAX} entries. Operations that can be repeated without end are rejected; those that bring the order to its end are not.`,
};

/** The rule as a sentence for people. */
export const detailOf = (rule: TransitionRule): string => DETAILS[rule];

/** 409: the order's state does not allow the transition (decision 0015). */
export const transitionRefused = (transition: string, order: Order, rule: TransitionRule): Problem => ({
  code: "transition-refused",
  detail: detailOf(rule),
  members: { transition, orderStatus: order.status, rule },
});

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
