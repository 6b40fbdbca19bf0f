import { type EventRow, eventRow } from "../../events/event.ts";
import type { Acceptance, AppliedTransition, RecordContext } from "../../lifecycle/applied-transition.ts";
import type { Order, OrderState } from "../../lifecycle/order.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { listWantedTypes } from "../../webhooks/publishing/wanted-types-sql.ts";
import { toWireOrder, toWireShipment } from "../order-wire.ts";
import { readOrdersByKey } from "../orders-sql.ts";
import { isWhole, type OptIn, optInsOf } from "./opt-ins.ts";
import { orderEvents } from "./order-events.ts";

type Transition = AppliedTransition | Acceptance;

/**
 * The events of transitions whose orders have been saved: those that count in the orders' sequences, and those that only
 * some endpoints want, where the connection has such an endpoint. The latter do not count, so that an endpoint that has
 * not asked for them sees no gap. Orders that were read without their lines are read whole where an event shows them.
 */
export async function eventsOfTransitions(
  tx: Queryable,
  transitions: readonly Transition[],
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
async function wantedOptIns(tx: Queryable, transitions: readonly Transition[]): Promise<OptIn[][]> {
  const optIns = transitions.map(optInsOf);
  const candidates = transitions.filter((_, index) => optIns[index]?.length);
  if (candidates.length === 0) return [];
  const wantedBy = await listWantedTypes(
    tx,
    candidates.map(({ after }) => after),
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
    testMode: false,
    orderId: order.id,
    sequence: null,
    notAfter: null,
    data: {
      order: toWireOrder(order),
      ...(shipment === undefined ? {} : { shipment: toWireShipment(order, shipment) }),
    },
  });
  return { ...event, sequence: order.lastSequence }; // Behind the events counted so far.
}
