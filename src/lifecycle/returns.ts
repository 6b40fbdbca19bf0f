import type { Order, OrderLine, Shipment } from "./order.ts";
import type { Transition } from "./transition.ts";

/** The units of a line that have shipped and not come back. */
export const quantityOut = ({ quantity, returnedQuantity, shipmentId }: OrderLine): number =>
  shipmentId === null ? 0 : quantity - returnedQuantity;

/** The shipments that have not come back, oldest first. */
export const shipmentsOut = ({ shipments }: Pick<Order, "shipments">): Shipment[] =>
  shipments.filter(({ status }) => status !== "returned");

/** The parts of an order that a return changes, and the shipments that it completes. */
export type Returned = Pick<Order, "lines" | "shipments"> & { readonly returnedIds: readonly string[] };

/**
 * The order after units have come back: those that are named, or all of a shipment. A shipment of which nothing is out
 * any more is `returned` (decision 0087). Null if no such shipment is out, or fewer units.
 */
export function returnUnits(
  order: Order,
  { shipmentId, lines }: Extract<Transition, { name: "returnShipment" }>,
): Returned | null {
  const out = shipmentsOut(order);
  if (lines === undefined) {
    const shipment = shipmentId === null ? out.at(-1) : out.find(({ id }) => id === shipmentId);
    return shipment === undefined ? null : withReturned(order, ofShipment(order, shipment), [shipment]);
  }
  const requested = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  const named = order.lines.filter(({ id }) => requested.has(id));
  const isOut = (line: OrderLine) => quantityOut(line) >= (requested.get(line.id) ?? 0);
  const touched = out.filter(({ id }) => named.some((line) => line.shipmentId === id));
  const ids = new Set(touched.map(({ id }) => id));
  if (named.length === 0 || !named.every((line) => isOut(line) && ids.has(line.shipmentId ?? "")))
    return null;
  return withReturned(order, requested, touched);
}

/** All units of the shipment's lines that are still out. */
const ofShipment = ({ lines }: Order, { id }: Shipment): ReadonlyMap<string, number> =>
  new Map(lines.filter(({ shipmentId }) => shipmentId === id).map((line) => [line.id, quantityOut(line)]));

function withReturned(
  order: Order,
  requested: ReadonlyMap<string, number>,
  touched: readonly Shipment[],
): Returned {
  const lines = order.lines.map((line) => {
    const quantity = requested.get(line.id) ?? 0;
    return quantity === 0 ? line : { ...line, returnedQuantity: line.returnedQuantity + quantity };
  });
  const isBack = ({ id }: Shipment) =>
    lines.every((line) => line.shipmentId !== id || quantityOut(line) === 0);
  const returnedIds = touched.filter(isBack).map(({ id }) => id);
  return {
    lines,
    shipments: order.shipments.map((shipment) =>
      returnedIds.includes(shipment.id) ? { ...shipment, status: "returned" } : shipment,
    ),
    returnedIds,
  };
}

/** Units of a line that came back. `line` is the line after that. */
export type ReturnedUnits = { readonly line: OrderLine; readonly quantity: number };

/** What came back between two states of an order. */
export const returnedBetween = (
  before: Pick<Order, "lines">,
  after: Pick<Order, "lines">,
): ReturnedUnits[] => {
  const earlier = new Map(before.lines.map(({ id, returnedQuantity }) => [id, returnedQuantity]));
  return after.lines.flatMap((line) => {
    const quantity = line.returnedQuantity - (earlier.get(line.id) ?? 0);
    return quantity > 0 ? [{ line, quantity }] : [];
  });
};
