import type { TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import type { Transition, TransitionName } from "../../lifecycle/transition.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { lockOrderById } from "../orders-sql.ts";
import { changeOrder, type OrderChange } from "./change-order.ts";
import { transitionRefused } from "./transition-refused.ts";

/** What a caller of the back office requests of a real order. */
export type RequestedTransition = Pick<OrderChange, "prepare" | "alongside"> & {
  readonly cause: TransitionCause & { readonly operation: TransitionName };
  /** The transition, or why the request is not valid for this order. */
  transition(order: Order): Transition | Problem;
};

/**
 * Applies a transition to a real order for the back office. A test order gets the same response as a missing one: only
 * partners change test orders.
 */
export async function transitionOrder(
  context: Context,
  key: OrderKey,
  { cause, transition, ...others }: RequestedTransition,
): Promise<Order | Problem> {
  const outcome = await changeOrder(context, {
    ...others,
    async lock(tx) {
      const order = await lockOrderById(tx, key, context.clock);
      return order?.testMode ? undefined : order;
    },
    missing: notFound("order"),
    cause,
    decide(order, now) {
      const requested = transition(order);
      return isProblem(requested) ? requested : applyTransition(order, requested, now);
    },
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied"
    ? outcome.order
    : transitionRefused(cause.operation, outcome.order, outcome.rule);
}
