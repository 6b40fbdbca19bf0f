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

export type OrderChange = {
  /** Locks the order and reads it under the lock; undefined if there is none, or it has expired. */
  lock(tx: Queryable): Promise<Order | undefined>;
  /** The response if there is no such order. */
  readonly missing: Problem;
  readonly cause: TransitionCause;
  /** What has to be stored before the decision, in the same transaction; returns the order as it then is. */
  prepare?(tx: Queryable, order: Order, at: RecordContext): Promise<Order>;
  /** Decides by the lifecycle, or rejects. The clock is read under the order's lock. */
  decide(order: Order, now: Date): Outcome | Problem;
  /** Further changes in the same transaction; only if the lifecycle permits the transition. */
  alongside?(
    tx: Queryable,
    change: Pick<AppliedTransition, "before" | "after">,
    at: RecordContext,
  ): Promise<void>;
};

/**
 * One requested change of one order, in one transaction: under the order's lock the lifecycle decides, and the transition
 * is stored with all that follows from it. A rejection may change the order too, if its deadline has just accepted it
 * (decision 0012).
 */
export async function changeOrder(context: Context, change: OrderChange): Promise<Outcome | Problem> {
  const changed = await inTransaction(context, async (tx) => {
    const locked = await change.lock(tx);
    if (locked === undefined) return null;
    const at = { newId: context.newId, now: context.clock.now() };
    const before = (await change.prepare?.(tx, locked, at)) ?? locked;
    const outcome = change.decide(before, at.now);
    if (isProblem(outcome)) return { connection: locked, outcome };
    await storeTransitions(tx, appliedTransitions(before, outcome, change.cause), at);
    if (outcome.outcome === "applied") await change.alongside?.(tx, { before, after: outcome.order }, at);
    return { connection: locked, outcome };
  });
  if (changed === null) return change.missing;
  context.signals.send("deliveries_due", [changed.connection]);
  return changed.outcome;
}
