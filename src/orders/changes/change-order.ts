import {
  type AppliedTransition,
  appliedTransitions,
  type RecordContext,
  type TransitionCause,
} from "../../lifecycle/applied-transition.ts";
import type { Outcome } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { storeTransitions } from "./store-transitions.ts";

/** What a request does with one order. */
export type RequestedChange = {
  /** Locks the order and reads it under the lock. Undefined if it is missing or has expired. */
  lock(tx: Queryable): Promise<Order | undefined>;
  /** The problem to return if there is no such order. */
  readonly missing: Problem;
  readonly cause: TransitionCause;
  /** Stores what must be stored before the decision, in the same transaction. Returns the order after that. */
  prepare?(tx: Queryable, order: Order, at: RecordContext): Promise<Order>;
  /** Applies the lifecycle, or returns a problem. `now` is read under the order's lock. */
  decide(order: Order, now: Date): Outcome | Problem;
  /**
   * Stores further changes in the same transaction, if the lifecycle allows the transition. A problem rolls back all of
   * it.
   */
  alongside?(
    tx: Queryable,
    change: Pick<AppliedTransition, "before" | "after">,
    at: RecordContext,
  ): Promise<Problem | null>;
};

/** Rolls back the transaction of a change that a further change rejects. */
class RejectedChange extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super("A change was rejected.");
    this.problem = problem;
  }
}

/**
 * Changes one order by request, in one transaction: locks it, calls the lifecycle, and stores the transition with all
 * that follows from it. A rejected request can change the order too, if the deadline has accepted it (decision 0012).
 */
export async function changeOrder(context: Context, change: RequestedChange): Promise<Outcome | Problem> {
  const changed = await inTransaction(context, async (tx) => {
    const locked = await change.lock(tx);
    if (locked === undefined) return null;
    const at = { newId: context.newId, now: context.clock.now() };
    const before = (await change.prepare?.(tx, locked, at)) ?? locked;
    const outcome = change.decide(before, at.now);
    if (isProblem(outcome)) return { order: locked, outcome };
    await storeTransitions(tx, appliedTransitions(before, outcome, change.cause), at);
    if (outcome.outcome === "applied") {
      const problem = await change.alongside?.(tx, { before, after: outcome.order }, at);
      if (problem) throw new RejectedChange(problem);
    }
    return { order: locked, outcome };
  }).catch((error: unknown) => {
    if (error instanceof RejectedChange) return error;
    throw error;
  });
  if (changed instanceof RejectedChange) return changed.problem;
  if (changed === null) return change.missing;
  context.signals.send("deliveries_due", [changed.order]);
  context.signals.sendOrders([changed.order]);
  return changed.outcome;
}
