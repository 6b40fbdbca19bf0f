import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { TransitionCause } from "../../lifecycle/applied-transition.ts";
import { applyTransition, asOf, isChange, unchanged } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderKey } from "../../lifecycle/order.ts";
import type { Transition, TransitionName } from "../../lifecycle/transition.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, notFound, type Problem } from "../../platform/wire/problems.ts";
import { lockOrderById } from "../orders-sql.ts";
import { isOneTooMany } from "../timeline/repeatable-changes.ts";
import { changeOrder, type RequestedChange } from "./change-order.ts";
import { orderFact } from "./requester.ts";
import { transitionRefused } from "./transition-refused.ts";

/** What a caller of the back office requests of a real order. */
export type RequestedTransition = Pick<RequestedChange, "prepare" | "alongside"> & {
  readonly cause: Omit<TransitionCause, "actor" | "requestId"> & { readonly operation: TransitionName };
  readonly by: Initiator;
  /** The transition; or null, if an earlier request has made it; or why the request is not valid for this order. */
  transition(order: Order): Transition | Problem | null;
};

/** An order as the caller has found it. */
export type FoundKey = OrderKey & {
  /** Decides under the order's lock: routing may have moved it to a facility that the caller does not see. */
  readonly isStillSeen?: (order: Order) => boolean;
};

/**
 * Applies a transition to a real order for the back office. A test order gets the same response as a missing one: only
 * partners change test orders.
 */
export async function transitionOrder(
  context: Context,
  key: FoundKey,
  { cause, by, transition, prepare, alongside }: RequestedTransition,
): Promise<Order | Problem> {
  let isTooMany = false;
  const outcome = await changeOrder(context, {
    async lock(tx) {
      const order = await lockOrderById(tx, key, context.clock);
      return order?.testMode || (order && key.isStillSeen?.(order) === false) ? undefined : order;
    },
    missing: notFound("order"),
    async prepare(tx, order, at) {
      isTooMany = await isOneTooMany(tx, order, cause.operation);
      return (await prepare?.(tx, order, at)) ?? order;
    },
    cause: { ...cause, actor: by.actor, requestId: by.requestId },
    async alongside(tx, change, at) {
      const problem = (await alongside?.(tx, change, at)) ?? null;
      if (problem === null && change.after !== change.before)
        await recordAudit(tx, context, by, orderFact(change));
      return problem;
    },
    decide(order, now) {
      const requested = transition(order);
      if (requested === null) return unchanged(order, now);
      if (isProblem(requested)) return requested;
      const outcome = applyTransition(order, requested, now);
      return isTooMany && isChange(outcome)
        ? { outcome: "rejected", order: asOf(order, now), rule: "too_many_changes" }
        : outcome;
    },
  });
  if (isProblem(outcome)) return outcome;
  return outcome.outcome === "applied"
    ? outcome.order
    : transitionRefused(cause.operation, outcome.order, outcome.rule);
}
