import { type EventRow, eventRow } from "../../events/event.ts";
import type { RecordContext, StorableTransition } from "../../lifecycle/applied-transition.ts";
import type { Order, OrderState } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { listWantedTypes } from "../../webhooks/publishing/wanted-types-sql.ts";
import { toWireOrder, toWireShipment } from "../order-wire.ts";
import { readOrdersByKey } from "../orders-sql.ts";
import { isWhole, type OptIn, optInsOf } from "./opt-ins.ts";
import { orderEvents } from "./order-events.ts";

/**
 * The events of transitions whose orders have been saved: those that count in the orders' sequences, and the opt-in
 * events that an endpoint of the connection wants. Opt-in events do not count, so endpoints without them see no gap. If
 * an order was read without its lines, and an event shows them, the order is read again, whole.
 */
export async function eventsOfTransitions(
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

function optInEvent({ type, shipment }: OptIn, order: Order, { newId, now }: RecordContext): EventRow {
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
    },
  });
  return { ...event, sequence: order.lastSequence }; // After the events counted so far.
}
