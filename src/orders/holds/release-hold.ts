import type { Initiator } from "../../audit/initiator.ts";
import { type Hold, holdsOf, reasonsToRelease } from "../../lifecycle/holds.ts";
import { asOf } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Context } from "../../platform/context.ts";
import type { Problem } from "../../platform/wire/problems.ts";
import { type FoundKey, transitionOrder } from "../changes/transition-order.ts";
import { transitionRefused } from "../changes/transition-refused.ts";
import { readTimeline } from "../timeline/timeline-sql.ts";

/**
 * Releases reasons for which a real order is on hold: the named ones, or all that the caller may release (decision 0093).
 * All of the named ones are released, or none. Who placed a reason is read under the order's lock. An order without a
 * hold does not change.
 */
export async function releaseHold(
  context: Context,
  key: FoundKey,
  { reasons, by }: { readonly reasons: readonly string[] | undefined; readonly by: Initiator },
): Promise<Order | Problem> {
  let holds: readonly Hold[] = [];
  let now = context.clock.now();
  return transitionOrder(context, key, {
    by,
    cause: { operation: "releaseHold" },
    async prepare(tx, order, at) {
      holds = order.holdReasons.length === 0 ? [] : holdsOf(order, await readTimeline(tx, order, order.id));
      now = at.now;
      return order;
    },
    transition(order) {
      const { released, forbidden } = reasonsToRelease(holds, reasons, by.actor.kind);
      const isRefused =
        forbidden.length > 0 ||
        (reasons === undefined && holds.length > released.length && released.length === 0);
      return isRefused
        ? transitionRefused("releaseHold", asOf(order, now), "hold_not_releasable")
        : { name: "releaseHold", reasons: released };
    },
  });
}
