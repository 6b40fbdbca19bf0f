import { isProblem, notFound, type Problem } from "../http/problems.ts";
import type { Service } from "../service.ts";
import { changeOrder } from "./change-order.ts";
import { applyTransition } from "./lifecycle.ts";
import type { Order } from "./order.ts";
import type { StepCause } from "./order-step.ts";
import { wireOrderId } from "./order-wire.ts";
import type { Transition, TransitionName } from "./transition.ts";
import { transitionRefused } from "./transition-refused.ts";

type Step = StepCause & {
  readonly action: TransitionName;
  readonly connectionId: string;
  readonly orderId: string;
  /** The step, or what is wrong with the request when the order is looked at. */
  transition(order: Order): Transition | Problem;
  readonly alongside?: Parameters<typeof changeOrder>[1]["alongside"];
};

/** One step of a real order that somebody in the house takes. Test orders answer as missing: only partners drive them. */
export async function takeStep(service: Service, step: Step): Promise<Order | Problem> {
  const { connectionId, orderId, alongside, ...cause } = step;
  const missing = notFound("order");
  const ref = {
    id: orderId,
    testMode: false,
    externalOrderId: wireOrderId({ id: orderId, testMode: false }),
  };
  const outcome = await changeOrder(service, {
    ...cause,
    ...{ connectionId, ref, missing },
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
    : transitionRefused(step.action, outcome.order, outcome.rule);
}
