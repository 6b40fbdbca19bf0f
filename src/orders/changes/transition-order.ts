import type { TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Transition, TransitionName } from "../../lifecycle/transition.ts";
import type { Context } from "../../platform/context.ts";
import { wireOrderId } from "../../platform/ids.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { changeOrder } from "./change-order.ts";
import { transitionRefused } from "./transition-refused.ts";

type Step = TransitionCause & {
  readonly operation: TransitionName;
  readonly merchantId: string;
  readonly connectionId: string;
  readonly orderId: string;
  /** The transition, or what is wrong with the request for this order. */
  transition(order: Order): Transition | Problem;
  readonly alongside?: Parameters<typeof changeOrder>[1]["alongside"];
};

/**
 * One transition of a real order through the back office. Test orders get the same response as missing ones: only
 * partners drive them.
 */
export async function transitionOrder(context: Context, step: Step): Promise<Order | Problem> {
  const { merchantId, connectionId, orderId, alongside, ...cause } = step;
  const missing = notFound("order");
  const ref = {
    id: orderId,
    testMode: false,
    externalOrderId: wireOrderId({ id: orderId, testMode: false }),
  };
  const outcome = await changeOrder(context, {
    ...cause,
    ...{ merchantId, connectionId, ref, missing },
    ...(alongside && { alongside }),
    decide(order, now) {
      if (order.id !== orderId) return missing; // A partner's own id may look like one of ours.
      const transition = step.transition(order);
      return isProblem(transition) ? transition : applyTransition(order, transition, now);
    },
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied"
    ? outcome.order
    : transitionRefused(step.operation, outcome.order, outcome.rule);
}
