import { type LedgerEntry, refundableGoodsMinor, refundableMinor, retriesOf } from "../../ledger/ledger.ts";
import type { Actor, TimelineEntry } from "../../lifecycle/applied-transition.ts";
import { isSettled, wasCanceled } from "../../lifecycle/lifecycle.ts";
import {
  MERCHANT_REQUEST,
  type Order,
  type OrderStatus,
  type TransitionRule,
} from "../../lifecycle/order.ts";
import { ADDRESS_CORRECTIONS_MAX, hasShipped, isOpen } from "../../lifecycle/parts.ts";
import {
  holdsOf,
  type PossibleTransition,
  possibleTransition,
  REAL_ORDER_TRANSITIONS,
  type ReleasableReasons,
  releasableReasons,
} from "../../lifecycle/possible-transitions.ts";
import { ADDRESS_CORRECTION } from "../address.ts";
import { REPEATABLE_CHANGES_MAX } from "../changes/timeline-sql.ts";

/** The actions on a real order in the back office: the transitions, and three operations beside the lifecycle. */
export const ORDER_ACTIONS = [
  ...REAL_ORDER_TRANSITIONS,
  "retryPayment",
  "refund",
  "erasePersonalData",
] as const;
export type OrderActionName = (typeof ORDER_ACTIONS)[number];

/** Why an action has nothing to do. No transition is refused for it: repeating one is safe. */
export const NOTHING_TO_DO = ["not_on_hold", "already_on_hold", "already_erased"] as const;
export type ActionRule = TransitionRule | (typeof NOTHING_TO_DO)[number];

/** The effect of an action, as the key of a sentence about it. */
export const ACTION_EFFECTS = [
  "accept_and_charge",
  "cancel_uncharged",
  "stop_shipping",
  "continue",
  "release_some",
  "waive_payment",
  "correct_address",
  "ship_all",
  "ship_rest",
  "complete",
  "record_return",
  "cancel_rest",
  "cancel_and_refund",
  "retry_charge",
  "retry_refund",
  "retry_charge_and_refund",
  "refund_merchant",
  "erase_buyer",
] as const;
export type ActionEffect = (typeof ACTION_EFFECTS)[number];

export type OrderAction = {
  readonly name: OrderActionName;
  /** Why it is not possible now. Null if it is. */
  readonly rule: ActionRule | null;
  readonly effect: ActionEffect;
  /** The order's status after it. */
  readonly status: OrderStatus;
  /** The types of the events that it publishes. */
  readonly eventTypes: readonly string[];
  /** Of `releaseHold`. No other action releases reasons. */
  readonly releasable: ReleasableReasons;
};

/** The facts beside the order that actions depend on. */
export type ActionFacts = {
  readonly charges: readonly LedgerEntry[];
  readonly timeline: readonly TimelineEntry[];
  /** When the personal data of the buyer was erased; null if it was not. */
  readonly erasedAt: Date | null;
};

/** An action that a caller in this role may request, and all that it depends on. */
type Asked = ActionFacts & {
  readonly name: OrderActionName;
  readonly order: Order;
  readonly kind: Actor["kind"];
  readonly releasable: ReleasableReasons;
  readonly now: Date;
};

/**
 * The actions on an order, as the lifecycle and the ledger decide at `now`. The operations decide again under the order's
 * lock. A test order has none: the sandbox moves it.
 * @param order `asOf` now
 * @param roleFor the role in which the caller may request an action of this order; null: it may not
 */
export function actionsOf(
  order: Order,
  facts: ActionFacts,
  roleFor: (name: OrderActionName) => Actor["kind"] | null,
  now: Date,
): OrderAction[] {
  if (order.testMode) return [];
  return ORDER_ACTIONS.flatMap((name) => {
    const kind = roleFor(name);
    if (kind === null) return [];
    const holds = name === "releaseHold" ? holdsOf(order, facts.timeline) : [];
    return actionOf({ ...facts, name, order, kind, releasable: releasableReasons(holds, kind), now });
  });
}

function actionOf(asked: Asked): OrderAction {
  const { name, order, releasable } = asked;
  const transition = transitionOf(asked);
  const rule = transition?.rule ?? ruleBeside(asked);
  const { status, eventTypes } = rule === null && transition ? transition : unchangedBy(order);
  return { name, rule, effect: effectOf(asked), status, eventTypes, releasable };
}

/** The transition with the arguments of a request that names as little as possible. Null if the action is none. */
function transitionOf({ name, order, releasable, now }: Asked): PossibleTransition | null {
  const transition = REAL_ORDER_TRANSITIONS.find((each) => each === name);
  if (transition === undefined) return null;
  const { released, toName } = releasable;
  return possibleTransition(order, transition, now, released.length > 0 ? released : toName);
}

const unchangedBy = ({ status }: Order): Pick<PossibleTransition, "status" | "eventTypes"> => ({
  status,
  eventTypes: [],
});

/** The rules that depend on the caller, on what is stored apart from the order, or on there being something to do. */
function ruleBeside(asked: Asked): ActionRule | null {
  const { name, order, kind, charges, timeline, erasedAt, releasable, now } = asked;
  const isLong = timeline.length >= REPEATABLE_CHANGES_MAX;
  switch (name) {
    case "hold":
      if (kind === "merchant" && order.holdReasons.includes(MERCHANT_REQUEST)) return "already_on_hold";
      return isLong ? "too_many_changes" : null;
    case "releaseHold":
      if (order.holdReasons.length === 0) return "not_on_hold";
      return releasable.released.length + releasable.toName.length > 0 ? null : "hold_not_releasable";
    case "updateShippingAddress": {
      if (hasShipped(order)) return "already_shipped";
      const corrections = timeline.filter(({ operation }) => operation === ADDRESS_CORRECTION);
      return corrections.length < ADDRESS_CORRECTIONS_MAX ? null : "too_many_corrections";
    }
    case "cancel":
      // After goods have shipped, a merchant cannot cancel and be refunded (docs/design/people.md, "Roles and grants").
      return kind === "merchant" && hasShipped(order) ? "already_shipped" : null;
    case "cancelLines":
      return refundableGoodsMinor(charges) === null ? "goods_unpaid" : null;
    case "retryPayment": {
      const { add, bringForward } = retriesOf(charges, wasCanceled(order), now);
      if (add.length + bringForward.length === 0) return "nothing_to_pay";
      return isLong ? "too_many_changes" : null;
    }
    case "refund":
      return refundableMinor(charges) > 0n ? null : "nothing_to_refund";
    case "erasePersonalData":
      if (!isSettled(order)) return "order_not_settled";
      return erasedAt === null ? null : "already_erased";
    default:
      return null;
  }
}

function effectOf(asked: Asked): ActionEffect {
  const { name, order, charges, releasable } = asked;
  switch (name) {
    case "approve":
      return "accept_and_charge";
    case "reject":
      return "cancel_uncharged";
    case "hold":
      return "stop_shipping";
    case "releaseHold":
      return releaseEffect(order, releasable);
    case "updateShippingAddress":
      return "correct_address";
    case "ship":
      return order.lines.every(isOpen) ? "ship_all" : "ship_rest";
    case "cancelLines":
      return "cancel_rest";
    case "complete":
      return "complete";
    case "returnShipment":
      return "record_return";
    case "cancel":
      return charges.some(({ status }) => status === "succeeded") ? "cancel_and_refund" : "cancel_uncharged";
    case "retryPayment":
      return retryEffect(asked);
    case "refund":
      return "refund_merchant";
    case "erasePersonalData":
      return "erase_buyer";
    default:
      return name satisfies never;
  }
}

function releaseEffect({ holdReasons }: Order, { released, toName }: ReleasableReasons): ActionEffect {
  if (released.length === 0 && toName.length > 0) return "waive_payment";
  return released.length < holdReasons.length ? "release_some" : "continue";
}

function retryEffect({ order, charges, now }: Asked): ActionEffect {
  const { add, bringForward } = retriesOf(charges, wasCanceled(order), now);
  const kinds = [...add, ...bringForward].map(({ kind }) => kind);
  if (!kinds.includes("refund")) return "retry_charge";
  return kinds.every((kind) => kind === "refund") ? "retry_refund" : "retry_charge_and_refund";
}
