import type { Order } from "../../lifecycle/order.ts";
import type { RefusalRule } from "../../lifecycle/transition.ts";
import type { Problem } from "../../platform/wire/problems.ts";

const DETAILS: Readonly<Record<RefusalRule, string>> = {
  order_on_hold: "The order is on hold; a held order does not ship.",
  unshipped_lines: "The order has a line without a shipment.",
  order_settled: "The order is settled; it accepts nothing further except the return of a shipment.",
  no_shipment_out: "No such shipment of the order is still out.",
  nothing_to_ship: "There is no unshipped line to ship, or one of the lines has a shipment.",
  not_cancelable: "The order cannot be canceled.",
  not_new: "The order is no longer new.",
  not_in_review: "The order is not under review.",
  not_accepted:
    "The order has not been accepted yet; its partner may still cancel it, or it is under review.",
  not_routed: "The order has not been given to a facility yet; try again in a moment.",
  nothing_to_pay: "Nothing of the order is unpaid.",
  already_shipped: "Something of the order has been shipped; only the operator can cancel it now.",
};

/** 409: the order's state forbids the step (decision 0015). */
export const transitionRefused = (transition: string, order: Order, rule: RefusalRule): Problem => ({
  problem: "transition-refused",
  detail: DETAILS[rule],
  members: { transition, orderStatus: order.status, rule },
});
