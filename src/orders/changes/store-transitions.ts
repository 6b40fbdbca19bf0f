import { updateLedger } from "../../ledger/update-ledger.ts";
import type {
  AppliedTransition,
  RecordContext,
  StorableTransition,
} from "../../lifecycle/applied-transition.ts";
import type { Order, OrderState } from "../../lifecycle/order.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Unproved } from "../../platform/wire/problems.ts";
import { updateStock } from "../../stock/update-stock.ts";
import { type EventRow, eventRow } from "../../webhooks/events/event.ts";
import { insertEvents, listWantedTypes } from "../../webhooks/publishing-sql.ts";
import { storeCanceledLines } from "../cancellations/cancellations-sql.ts";
import { toWireCanceled, toWireOrder, toWireShipment } from "../order-wire.ts";
import { readOrdersByKey } from "../orders-sql.ts";
import { storeReturnedQuantities } from "../returns/returns-sql.ts";
import { isWhole, type OptIn, optInsOf, orderEvents } from "./order-events.ts";
import {
  type OrderChange,
  saveAddresses,
  saveOrders,
  saveShipments,
  storeSplits,
} from "./save-orders-sql.ts";
import { insertTimelineEntries } from "./timeline-sql.ts";

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
  at: RecordContext & Unproved,
): Promise<ConnectionKey[]> {
  if (transitions.length === 0) return [];
  const whole = transitions.filter((transition) => isWholeTransition(transition));
  const changes = changesOf(whole);
  await saveOrders(tx, changesOf(transitions), at.now);
  await storeSplits(tx, changes);
  await storeCanceledLines(tx, changes);
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

/**
 * The events of transitions whose orders have been saved: those that count in the orders' sequences, and the opt-in
 * events that an endpoint of the connection wants. Opt-in events do not count, so endpoints without them see no gap. If
 * an order was read without its lines, and an event shows them, the order is read again, whole.
 */
async function eventsOfTransitions(
  tx: Queryable,
  transitions: readonly StorableTransition[],
  at: RecordContext,
): Promise<EventRow[]> {
  const wanted = await wantedOptIns(tx, transitions);
  const published = transitions
    .map((transition, index) => ({ transition, optIns: wanted[index] ?? [] }))
    .filter(({ transition, optIns }) => transition.facts.length + optIns.length > 0);
  const wholeOf = await readWhole(
    tx,
    published.map(({ transition }) => transition.after),
  );
  return published.flatMap(({ transition, optIns }) => {
    const order = wholeOf(transition.after);
    const counted = orderEvents(order, transition.facts, at.newId, at.now);
    return [...counted, ...optIns.map((optIn) => optInEvent(optIn, order, at))];
  });
}

/** For each transition the opt-in events that an endpoint of its connection wants. */
async function wantedOptIns(tx: Queryable, transitions: readonly StorableTransition[]): Promise<OptIn[][]> {
  const optIns = transitions.map(optInsOf);
  const candidates = transitions.filter((_, index) => optIns[index]?.length);
  if (candidates.length === 0) return [];
  const wantedBy = await listWantedTypes(
    tx,
    candidates.map(({ after }) => after),
    optIns.flat().map(({ type }) => type),
  );
  return transitions.map(({ after }, index) =>
    (optIns[index] ?? []).filter(({ type }) => wantedBy(after).has(type)),
  );
}

async function readWhole(
  tx: Queryable,
  orders: readonly (Order | OrderState)[],
): Promise<(order: Order | OrderState) => Order> {
  const narrow = orders.filter((order) => !isWhole(order));
  const read = new Map((await readOrdersByKey(tx, narrow)).map((order) => [order.id, order]));
  return (order) => {
    const whole = isWhole(order) ? order : read.get(order.id);
    if (whole === undefined) throw new Error("An order is gone although its lock was held.");
    return whole;
  };
}

function optInEvent(
  { type, shipment, canceled }: OptIn,
  order: Order,
  { newId, now }: RecordContext,
): EventRow {
  const event = eventRow({
    merchantId: order.merchantId,
    connectionId: order.connectionId,
    id: newId(),
    type,
    occurredAt: now,
    testMode: order.testMode,
    orderId: order.id,
    sequence: null,
    notAfter: order.expiresAt,
    data: {
      order: toWireOrder(order),
      ...(shipment === undefined ? {} : { shipment: toWireShipment(order, shipment) }),
      ...(canceled === undefined ? {} : toWireCanceled(canceled)),
    },
  });
  return { ...event, sequence: order.lastSequence }; // After the events counted so far.
}
