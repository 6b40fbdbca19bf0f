import { type RecordContext, SERVICE } from "../../lifecycle/applied-transition.ts";
import { applyTransition } from "../../lifecycle/lifecycle.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Transition } from "../../lifecycle/transition.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { insertEvents } from "../../webhooks/publishing/events-sql.ts";
import { saveHolds } from "../orders-sql.ts";
import { tellOptIns } from "./opt-in-events.ts";
import { orderEvents } from "./order-events.ts";
import { insertTimelineEntries } from "./timeline-sql.ts";

/** A hold that the service places or releases. The caller has locked the order, and has read it under the lock. */
export type HoldChange = {
  readonly order: Order;
  readonly transition: Extract<Transition, { name: "addHold" | "releaseHold" }>;
};

/**
 * Places and releases holds of different orders of one connection: what `storeOutcome` does for one order, in a few
 * statements for all of them. A change of stock may concern hundreds of orders at once. Only accepted orders, which no
 * deadline changes any more. A hold affects neither money nor stock.
 */
export async function changeHolds(
  tx: Queryable,
  connection: ConnectionKey,
  changes: readonly HoldChange[],
  at: RecordContext,
): Promise<void> {
  const steps = changes.flatMap(({ order: before, transition }) => {
    const outcome = applyTransition(before, transition, at.now);
    if (outcome.outcome === "refused" || outcome.order === before) return [];
    return { actor: SERVICE, operation: transition.name, before, after: outcome.order, facts: outcome.facts };
  });
  if (steps.length === 0) return;
  const positions = await saveHolds(tx, connection, steps);
  const events = steps.flatMap(({ after, facts }) => orderEvents(after, facts, at.newId, at.now));
  await insertEvents(tx, events, at.now, positions);
  await tellOptIns(tx, connection, steps, at, positions);
  const records = steps.map((step) => ({ ...step, ...step.after, orderId: step.after.id }));
  await insertTimelineEntries(tx, connection, records, at);
}
