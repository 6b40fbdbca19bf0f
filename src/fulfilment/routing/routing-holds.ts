import type { RecordContext } from "../../lifecycle/applied-transition.ts";
import { ROUTING_HOLD_REASONS, type RoutingHoldReason } from "../../lifecycle/hold-reasons.ts";
import { changeHolds, type HoldChange } from "../../orders/changes/change-holds.ts";
import type { UnroutedOrder } from "../../orders/changes/routing-sql.ts";
import { readOrders } from "../../orders/orders-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";

const PLACED_BY_ROUTING: readonly string[] = ROUTING_HOLD_REASONS;

/** What holds an order that has been routed: other people's reasons. */
export const withoutRoutingHolds = ({ holdReasons }: UnroutedOrder): string[] =>
  holdReasons.filter((reason) => !PLACED_BY_ROUTING.includes(reason));

/** An order, and what routing holds it for from now on; null: nothing. */
export type WantedHold = { readonly order: UnroutedOrder; readonly reason: RoutingHoldReason | null };

/**
 * Places and lifts the holds that routing answers for; every other reason stays as it is. First all that are placed:
 * a hold whose reason changes is never told as released in between.
 */
export async function setRoutingHolds(
  tx: Queryable,
  connection: ConnectionKey,
  wanted: readonly WantedHold[],
  at: RecordContext,
): Promise<void> {
  await change(tx, connection, wanted.map(placing), at);
  await change(tx, connection, wanted.map(lifting), at);
}

type Named = { readonly orderId: string; readonly transition: HoldChange["transition"] };

function placing({ order, reason }: WantedHold): Named | null {
  if (reason === null || order.holdReasons.includes(reason)) return null;
  return { orderId: order.id, transition: { name: "addHold", reasons: [reason] } };
}

function lifting({ order, reason }: WantedHold): Named | null {
  const over = PLACED_BY_ROUTING.filter((known) => known !== reason && order.holdReasons.includes(known));
  return over.length === 0 ? null : { orderId: order.id, transition: { name: "releaseHold", reasons: over } };
}

/** Orders are read whole only where something changes, since events show them whole. */
async function change(
  tx: Queryable,
  connection: ConnectionKey,
  changes: readonly (Named | null)[],
  at: RecordContext,
): Promise<void> {
  const byOrder = new Map(
    changes.flatMap((each) => (each === null ? [] : [[each.orderId, each.transition]])),
  );
  const orders = await readOrders(tx, connection, [...byOrder.keys()]);
  const named = orders.flatMap((order) => {
    const transition = byOrder.get(order.id);
    return transition === undefined ? [] : { order, transition };
  });
  await changeHolds(tx, connection, named, at);
}
