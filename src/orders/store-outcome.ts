import type { Queryable } from "../database/database.ts";
import { insertEvents } from "../events/events-sql.ts";
import type { NewId } from "../ids.ts";
import type { Outcome } from "./lifecycle.ts";
import type { Order } from "./order.ts";
import { orderEvents } from "./order-events.ts";
import { saveOrder } from "./orders-sql.ts";

/**
 * Stores what a transition did: the order's change and its events, in the caller's transaction and under the
 * order's lock. A refusal may change the order too: its deadline may have accepted it there and then.
 */
export async function storeOutcome(
  tx: Queryable,
  stored: Order,
  outcome: Outcome,
  newId: NewId,
  now: Date,
): Promise<void> {
  if (outcome.order === stored) return;
  await saveOrder(tx, stored, outcome.order);
  if (outcome.outcome === "applied")
    await insertEvents(tx, orderEvents(outcome.order, outcome.facts, newId, now));
}
