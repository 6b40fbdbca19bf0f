import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import { changeHolds, type HoldChange } from "../../orders/changes/change-holds.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { placementOf, releaseOf } from "./hold-transitions.ts";
import type { WantedHold } from "./plan-routes.ts";

/**
 * Sets and releases the holds that routing decides; all other hold reasons stay. New holds come first, so that a hold
 * whose reason changes is never published as released in between.
 */
export async function setRoutingHolds(
  tx: Queryable,
  connection: ConnectionKey,
  wanted: readonly WantedHold[],
  at: RecordContext,
): Promise<void> {
  await apply(tx, connection, wanted, placementOf, at);
  await apply(tx, connection, wanted, releaseOf, at);
}

/** Reads only the orders that change, whole, because their events contain the whole order. */
async function apply(
  tx: Queryable,
  connection: ConnectionKey,
  wanted: readonly WantedHold[],
  transitionOf: (hold: WantedHold) => HoldChange["transition"] | null,
  at: RecordContext,
): Promise<void> {
  const transitions = new Map(
    wanted.flatMap((hold) => {
      const transition = transitionOf(hold);
      return transition === null ? [] : [[hold.order.id, transition]];
    }),
  );
  const orders = await readOrders(tx, connection, [...transitions.keys()]);
  const changes = orders.flatMap((order) => {
    const transition = transitions.get(order.id);
    return transition === undefined ? [] : { order, transition };
  });
  await changeHolds(tx, connection, changes, at);
}
