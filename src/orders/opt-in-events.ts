import type { Queryable } from "../database/database.ts";
import { type EventRow, eventRow } from "../events/event.ts";
import type { OptInEventType } from "../events/event-types.ts";
import { insertEvents } from "../events/events-sql.ts";
import type { NewId } from "../ids.ts";
import { listWantedTypes } from "../webhooks/endpoints/wanted-types-sql.ts";
import type { Order } from "./order.ts";
import { toWireOrder } from "./order-wire.ts";

/** An order before and after a step. */
export type OrderStep = { readonly before: Pick<Order, "status" | "holdReasons">; readonly after: Order };

/** What a step of a real order tells to those who asked for it by name (decision 0016). A test order's tells nothing. */
export function optInTypes({ before, after }: OrderStep): OptInEventType[] {
  if (after.testMode) return [];
  const types: OptInEventType[] = [];
  if (before.status !== after.status && after.status === "ACCEPTED") types.push("order.accepted");
  if (before.status !== after.status && after.status === "IN_PROGRESS") types.push("order.inProgress");
  const failed = ({ holdReasons }: OrderStep["before"]): boolean => holdReasons.includes("payment_failed");
  if (failed(after) && !failed(before)) types.push("order.paymentFailed");
  return types;
}

/**
 * Writes the events that only some endpoints want, if the connection has one that does. They do not count in the
 * order's sequence, so that nobody who did not ask for them sees a gap.
 */
export async function tellOptIns(
  tx: Queryable,
  connectionId: string,
  steps: readonly OrderStep[],
  { newId, now }: { newId: NewId; now: Date },
): Promise<void> {
  const told = steps.flatMap((step) => optInTypes(step).map((type) => ({ type, order: step.after })));
  if (told.length === 0) return;
  const wanted = await listWantedTypes(tx, connectionId);
  const events = told
    .filter(({ type }) => wanted.has(type))
    .map(({ type, order }) => optInEvent(type, order, newId(), now));
  await insertEvents(tx, events, now);
}

function optInEvent(type: OptInEventType, order: Order, id: string, now: Date): EventRow {
  const event = eventRow({
    connectionId: order.connectionId,
    id,
    type,
    occurredAt: now,
    testMode: false,
    orderId: order.id,
    sequence: null,
    notAfter: null,
    data: { order: toWireOrder(order) },
  });
  return { ...event, sequence: order.lastSequence }; // Its place in the lane: behind the events counted so far.
}
