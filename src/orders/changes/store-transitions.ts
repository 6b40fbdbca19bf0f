import { updateLedger } from "../../ledger/update-ledger.ts";
import type {
  AppliedTransition,
  RecordContext,
  StorableTransition,
} from "../../lifecycle/applied-transition.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { updateStock } from "../../stock/update-stock.ts";
import { insertEvents } from "../../webhooks/publishing/events-sql.ts";
import { saveAddresses } from "../address/corrected-addresses-sql.ts";
import { storeReturnedQuantities } from "../returns/returns-sql.ts";
import { storeSplits } from "../shipments/split-lines-sql.ts";
import { insertTimelineEntries } from "../timeline/timeline-sql.ts";
import { isWhole } from "./opt-ins.ts";
import { type OrderChange, saveOrders, saveShipments } from "./save-orders-sql.ts";
import { eventsOfTransitions } from "./transition-events.ts";

/**
 * Stores transitions that the lifecycle has applied, with all that follows from them: orders, shipments, events with
 * their deliveries, timelines, ledger and stock. Every change of an order is stored here, in the transaction that has
 * locked the order and read it under the lock.
 *
 * The number of statements is the same for one order and for hundreds of many connections, except that ledger and stock
 * are changed merchant by merchant. Transitions of the same order must be given in the order in which they were
 * applied.
 *
 * All transactions lock in the same order: orders, streams of deliveries, stock, payments.
 *
 * @returns the connections that have deliveries to send after the commit
 */
export async function storeTransitions(
  tx: Queryable,
  transitions: readonly StorableTransition[],
  at: RecordContext,
): Promise<ConnectionKey[]> {
  if (transitions.length === 0) return [];
  const whole = transitions.filter((transition) => isWholeTransition(transition));
  const changes = changesOf(whole);
  await saveOrders(tx, changesOf(transitions));
  await storeSplits(tx, changes);
  await saveShipments(tx, changes);
  await storeReturnedQuantities(tx, changes);
  await saveAddresses(tx, changes);
  const events = await eventsOfTransitions(tx, transitions, at);
  const sending = await insertEvents(tx, events, at.now);
  await insertTimelineEntries(
    tx,
    transitions.map((transition) => ({
      order: transition.after,
      cause: transition,
      shipmentId: isWholeTransition(transition) ? touchedShipment(transition) : null,
    })),
    at,
  );
  await updateStock(tx, whole, at);
  await updateLedger(tx, transitions, at);
  return sending;
}

const isWholeTransition = (transition: StorableTransition): transition is AppliedTransition =>
  isWhole(transition.before) && isWhole(transition.after);

/** Each order before its first transition and after its last one. */
function changesOf<Read extends OrderChange>(transitions: readonly Read[]): OrderChange<Read["after"]>[] {
  const changes = new Map<string, OrderChange<Read["after"]>>();
  for (const { before, after } of transitions)
    changes.set(after.id, { before: changes.get(after.id)?.before ?? before, after });
  return [...changes.values()];
}

/** The shipment that a transition has created or changed. Null if there is none, or more than one. */
function touchedShipment({ before, after }: OrderChange<Order>): string | null {
  const [touched, ...others] = after.shipments.filter((shipment) => !before.shipments.includes(shipment));
  return touched !== undefined && others.length === 0 ? touched.id : null;
}
