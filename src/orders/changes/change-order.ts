import {
  type AppliedTransition,
  appliedTransitions,
  type RecordContext,
  type TransitionCause,
} from "../../lifecycle/applied-transition.ts";
import type { Outcome } from "../../lifecycle/lifecycle.ts";
import type { Order, OrderRef } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { isStorableText } from "../../platform/wire/text.ts";
import { lockOrder } from "../orders-sql.ts";
import { storeTransitions } from "./store-transitions.ts";

type OrderChange = ConnectionKey &
  TransitionCause & {
    readonly ref: OrderRef;
    /** The response if the connection has no such order, or the order has expired. */
    readonly missing: Problem;
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
 * One requested change of one order: under the order's lock the lifecycle decides, and the transition is stored with all
 * that follows from it. A rejection may change the order too, if its deadline has just accepted it (decision 0012).
 */
export async function changeOrder(context: Context, change: OrderChange): Promise<Outcome | Problem> {
  if (!isStorableText(change.ref.externalOrderId)) return change.missing; // No order can have such an id.
  const outcome = await inTransaction(context, async (tx) => {
    const before = await lockOrder(tx, change, change.ref, context.clock);
    if (before === undefined) return change.missing;
    const at = { newId: context.newId, now: context.clock.now() };
    const outcome = change.decide(before, at.now);
    if (isProblem(outcome)) return outcome;
    await storeTransitions(tx, appliedTransitions(before, outcome, causeOf(change)), at);
    if (outcome.outcome === "applied") await change.alongside?.(tx, { before, after: outcome.order }, at);
    return outcome;
  });
  if (!isProblem(outcome)) context.signals.send("deliveries_due", [change]);
  return outcome;
}

/** The cause alone, without the other members of the change. */
const causeOf = ({ actor, operation, detail = null, restock = false }: TransitionCause): TransitionCause => ({
  ...{ actor, operation },
  ...{ detail, restock },
});
