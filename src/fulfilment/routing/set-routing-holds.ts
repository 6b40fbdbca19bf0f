import { type AppliedTransition, type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { appliedTransitions, applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import { storeTransitions } from "../../orders/changes/store-transitions.ts";
import { readOrdersByKey } from "../../orders/orders-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { placementOf, releaseOf } from "./hold-transitions.ts";
import type { WantedHold } from "./plan-routes.ts";

/**
 * Places and releases the holds of routing. All other hold reasons stay. A new reason is placed before the old one is
 * released, so that the order is never published as released in between. Reads only the orders that change, but these
 * whole, because their events contain the whole order. Returns the connections that have deliveries to send.
 */
export async function setRoutingHolds(
  tx: Queryable,
  wanted: readonly WantedHold[],
  at: RecordContext,
): Promise<ConnectionKey[]> {
  const changing = new Map(
    wanted
      .filter((hold) => placementOf(hold) !== null || releaseOf(hold) !== null)
      .map((hold) => [hold.order.id, hold]),
  );
  const orders = await readOrdersByKey(
    tx,
    [...changing.values()].map(({ order }) => order),
  );
  const applied = orders.flatMap((order) => {
    const hold = changing.get(order.id);
    return hold === undefined ? [] : applyHold(order, hold, at.now);
  });
  return storeTransitions(tx, applied, at);
}

/** Each transition starts from the result of the one before it. */
function applyHold(order: Order, hold: WantedHold, now: Date): AppliedTransition[] {
  const applied: AppliedTransition[] = [];
  for (const transition of [placementOf(hold), releaseOf(hold)]) {
    if (transition === null) continue;
    const before = applied.at(-1)?.after ?? order;
    const outcome = applyTransition(before, transition, now);
    applied.push(...appliedTransitions(before, outcome, { actor: SERVICE, operation: transition.name }));
  }
  return applied;
}
