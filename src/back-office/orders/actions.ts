import { type Static, Type } from "typebox";
import { grantsWith, roleOnOrder } from "../../audit/grant.ts";
import type { Order } from "../../lifecycle/order.ts";
import { detailOf, TRANSITION_RULES } from "../../orders/changes/transition-order.ts";
import { OrderStatusSchema } from "../../orders/order-wire.ts";
import {
  ACTION_EFFECTS,
  type ActionEffect,
  type ActionFacts,
  type ActionRule,
  actionsOf,
  NOTHING_TO_DO,
  ORDER_ACTIONS,
  type OrderActionName,
} from "../../orders/reading/order-actions.ts";
import { described, describedAs, enumeration, nullable } from "../../platform/wire/schemas.ts";
import { type BackOfficeCaller, everyone, merchantSide, operatorOnly, warehouse } from "../access.ts";

/** The row of the route table that does each action, and who may use it. A test compares them with the rows. */
export const ACTION_ROUTES = {
  approve: { operationId: "approveOrder", admits: warehouse },
  reject: { operationId: "rejectOrder", admits: warehouse },
  hold: { operationId: "holdOrder", admits: everyone },
  releaseHold: { operationId: "releaseOrderHold", admits: everyone },
  updateShippingAddress: { operationId: "updateShippingAddress", admits: merchantSide },
  ship: { operationId: "shipOrder", admits: warehouse },
  complete: { operationId: "completeOrder", admits: warehouse },
  returnShipment: { operationId: "returnShipment", admits: warehouse },
  cancelLines: { operationId: "cancelLines", admits: merchantSide },
  cancel: { operationId: "cancelOrder", admits: merchantSide },
  retryPayment: { operationId: "retryPayment", admits: merchantSide },
  refund: { operationId: "refundOrder", admits: operatorOnly },
  erasePersonalData: { operationId: "erasePersonalData", admits: operatorOnly },
} as const satisfies Record<OrderActionName, object>;

const NOTHING_DETAILS: Readonly<Record<(typeof NOTHING_TO_DO)[number], string>> = {
  not_on_hold: "The order is not on hold.",
  already_on_hold: "The order is already on hold for the only reason that you may set.",
  already_erased: "The personal data of the buyer was erased already.",
};

const isNothing = (rule: ActionRule): rule is keyof typeof NOTHING_DETAILS => rule in NOTHING_DETAILS;
const reasonOf = (rule: ActionRule): string => (isNothing(rule) ? NOTHING_DETAILS[rule] : detailOf(rule));

const ACTION_TEXTS: Readonly<Record<OrderActionName, string>> = {
  approve: "Accepts an order in review.",
  reject: "Cancels an order in review.",
  hold: "Stops shipping.",
  releaseHold: "Ends holds.",
  updateShippingAddress: "Corrects the address.",
  ship: "Records a shipment.",
  complete: "Completes the order.",
  returnShipment: "Records a return.",
  cancelLines: "Cancels units that cannot be delivered.",
  cancel: "Cancels the order.",
  retryPayment: "Attempts failed charges or refunds at once.",
  refund: "Refunds the merchant.",
  erasePersonalData: "Erases the buyer's personal data.",
};

const EFFECT_TEXTS: Readonly<Record<ActionEffect, string>> = {
  accept_and_charge: "The order is accepted, and the merchant is charged.",
  cancel_uncharged: "The order is canceled before the merchant was charged.",
  stop_shipping: "Nothing ships until the hold is released.",
  continue: "The order continues.",
  release_some: "Reasons are released, and the order stays on hold for the others.",
  waive_payment:
    "The order continues although a payment failed. The declined charge is waived: the merchant no longer owes it.",
  correct_address: "The address changes, and the order is routed again.",
  ship_all: "All lines ship.",
  ship_rest: "The lines that have not shipped yet ship.",
  complete: "The order is settled.",
  record_return: "Goods came back.",
  cancel_rest: "Units that have not shipped are canceled and refunded.",
  cancel_and_refund: "The order is canceled, and the merchant gets back what was charged.",
  retry_charge: "The charge is attempted at once.",
  retry_refund: "The refund is attempted at once.",
  retry_charge_and_refund: "The charge and the refund are attempted at once.",
  refund_merchant: "The merchant gets back the amount.",
  erase_buyer: "The buyer's personal data is gone for good.",
};

const RuleSchema = enumeration(
  "ActionRule",
  [...TRANSITION_RULES, ...NOTHING_TO_DO],
  `The rule that forbids an action now. ${described(Object.fromEntries([...TRANSITION_RULES, ...NOTHING_TO_DO].map((rule) => [rule, reasonOf(rule)])))} More values may be added.`,
);

const EffectSchema = enumeration(
  "ActionEffect",
  ACTION_EFFECTS,
  `What an action does, as the key of a sentence for people. ${described(EFFECT_TEXTS)} More values may be added.`,
);

export const OrderActionSchema = Type.Object(
  {
    name: enumeration(
      "OrderActionName",
      ORDER_ACTIONS,
      `What can be done with a real order. ${described(ACTION_TEXTS)} More values may be added.`,
    ),
    operationId: Type.String({ description: "The operation of this API that does it." }),
    allowed: Type.Boolean({ description: "Whether it is possible now. The operation decides again." }),
    rule: nullable(RuleSchema, "The rule that forbids it. Null if it is allowed."),
    reason: nullable(Type.String(), "The rule as a sentence for people, in English. Null if it is allowed."),
    effect: describedAs(EffectSchema, "What it does. It depends on the order."),
    status: describedAs(OrderStatusSchema, "Status of the order after it."),
    eventTypes: Type.Array(Type.String(), {
      description: "Types of the events that it publishes. Empty if it publishes none.",
    }),
    releasedReasons: Type.Array(Type.String(), {
      description:
        "Of `releaseHold`: the hold reasons that the caller releases without naming any. `effect`, `status` and `eventTypes` are those of such a request. Empty for other actions.",
    }),
    reasonsToName: Type.Array(Type.String(), {
      description:
        "Of `releaseHold`: the hold reasons that the caller can release only by naming them, because their charge is then waived. If there are no `releasedReasons`, `effect`, `status` and `eventTypes` are those of a request that names these. Empty for other actions.",
    }),
  },
  { title: "OrderAction", description: "Something that the caller may do with the order, if `allowed`." },
);

/** The actions that the caller's roles admit, possible now or not. The order must be `asOf` now. */
export const actionsFor = (
  { grants }: BackOfficeCaller,
  order: Order,
  facts: ActionFacts,
  now: Date,
): Static<typeof OrderActionSchema>[] =>
  actionsOf(
    order,
    facts,
    (name) => roleOnOrder(grantsWith(grants, ACTION_ROUTES[name].admits), order),
    now,
  ).map(({ name, rule, effect, status, eventTypes, releasable }) => ({
    name,
    operationId: ACTION_ROUTES[name].operationId,
    allowed: rule === null,
    rule,
    reason: rule === null ? null : reasonOf(rule),
    effect,
    status,
    eventTypes: [...eventTypes],
    releasedReasons: [...releasable.released],
    reasonsToName: [...releasable.toName],
  }));
