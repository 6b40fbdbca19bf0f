import type { Queryable } from "../../platform/database/database.ts";
import type { EventRow } from "../events/event.ts";
import { type ArmedFault, faultOfDelivery, heldUntil, isFor } from "./delivery-fault.ts";
import {
  letPass,
  listEventDeliveries,
  listFaults,
  listReordered,
  type NewDelivery,
  setFault,
  setFaultEvent,
} from "./faults-sql.ts";

/**
 * Gives the new deliveries of an order's events the faults that are armed for them, in the transaction that has stored the events.
 * The caller has locked the order, as a request that arms a fault does, so each fault is applied once
 * (docs/design/deliveries.md, "Rehearsed faults").
 */
export async function applyFaults(tx: Queryable, events: readonly EventRow[], now: Date): Promise<void> {
  for (const [orderId, own] of Map.groupBy(events, (event) => event.orderId)) {
    const [first] = own;
    if (orderId === null || first === undefined) continue;
    let faults = await listFaults(tx, first, orderId);
    if (faults.length > 0) for (const event of own) faults = await applyTo(tx, event, orderId, faults, now);
  }
}

/** Returns the faults as they are afterwards. */
async function applyTo(
  tx: Queryable,
  event: EventRow,
  orderId: string,
  faults: readonly ArmedFault[],
  now: Date,
): Promise<ArmedFault[]> {
  const deliveries = await listEventDeliveries(tx, event, orderId);
  const used = new Set<ArmedFault>();
  for (const delivery of deliveries) {
    const fault = faults.find((armed) => isFor(armed, { ...delivery, eventType: event.type }, now));
    if (fault === undefined) continue;
    await setFault(tx, event, delivery.id, faultOfDelivery(fault, now));
    used.add(fault);
  }
  for (const { id, eventId } of used) if (eventId === null) await setFaultEvent(tx, event, orderId, id);
  if (faults.some(({ fault, eventId }) => fault === "reordered" && eventId !== null))
    await reorder(tx, event, orderId, deliveries, now);
  return faults.map((fault) =>
    used.has(fault) && fault.eventId === null ? { ...fault, eventId: event.id } : fault,
  );
}

/** Lets the deliveries of a new event pass those that wait for it. */
async function reorder(
  tx: Queryable,
  event: EventRow,
  orderId: string,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  const waiting = (await listReordered(tx, event, orderId)).filter(
    ({ id, fault }) =>
      !deliveries.some((delivery) => delivery.id === id) &&
      heldUntil({ fault, attemptCount: 0 }, now) !== null,
  );
  for (const delivery of deliveries) {
    const passed = waiting.find(({ endpointId }) => endpointId === delivery.endpointId);
    if (passed !== undefined) await letPass(tx, event, { streamId: orderId, delivery, passed, now });
  }
}
