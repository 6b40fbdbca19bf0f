import type { AppliedTransition } from "../lifecycle/applied-transition.ts";
import { isSettled } from "../lifecycle/lifecycle.ts";
import { splitsBetween } from "../lifecycle/lines.ts";
import type { OrderLine } from "../lifecycle/order.ts";
import { returnedBetween } from "../lifecycle/returns.ts";
import type { Reservation, ReservationSplit } from "./reservations-sql.ts";
import type { StockMove } from "./stock-sql.ts";

/**
 * Lines that need no reservation any more: those that ship, and all lines of an order that becomes settled or loses its
 * route.
 */
export const linesToEnd = (transition: AppliedTransition): { orderId: string; lineId: string }[] => {
  const { before, after } = transition;
  // Also for a returned order, whose unshipped lines will never ship.
  const ended =
    (isSettled(after) && !isSettled(before)) || (before.routedAt !== null && after.routedAt === null);
  const lines = ended ? after.lines : newlyShipped(transition);
  return lines.map(({ id }) => ({ orderId: after.id, lineId: id }));
};

/** The reservations that a transition splits, because it splits lines. */
export const reservationSplits = ({ before, after }: AppliedTransition): ReservationSplit[] =>
  splitsBetween(before, after).map(({ line, rest }) => ({
    merchantId: after.merchantId,
    orderId: after.id,
    lineId: line.id,
    restId: rest.id,
    quantity: rest.quantity,
  }));

/**
 * The movements of stock by transitions, given the reservations that they end: goods that leave their facility, and
 * goods that become available again.
 */
export function stockMovesOf(
  transitions: readonly AppliedTransition[],
  ended: readonly Reservation[],
): { readonly leaving: StockMove[]; readonly freed: StockMove[] } {
  const shippedIds = new Set(transitions.flatMap(newlyShipped).map(idOf));
  const shipped = ended.filter(({ lineId }) => shippedIds.has(lineId));
  const released = ended.filter(({ lineId }) => !shippedIds.has(lineId));
  return {
    leaving: shipped.map(taken),
    freed: [...released.map(givenBack), ...transitions.flatMap(toRestock)],
  };
}

function newlyShipped({ before, after }: AppliedTransition): OrderLine[] {
  const unshipped = new Set(before.lines.filter((line) => line.shipmentId === null).map(idOf));
  return after.lines.filter((line) => line.shipmentId !== null && unshipped.has(line.id));
}

/** Returned goods go back to the facility that sent them. A product without a stock record there is not counted. */
function toRestock({ before, after, restock }: AppliedTransition): StockMove[] {
  const { facilityId } = after;
  if (restock !== true || facilityId === null) return [];
  return returnedBetween(before, after).map(({ line, quantity }) => ({
    facilityId,
    productId: line.productId,
    orderId: after.id,
    onHand: quantity,
    reserved: 0,
  }));
}

const taken = (kept: Reservation): StockMove => ({
  ...kept,
  onHand: -kept.quantity,
  reserved: -kept.quantity,
});

const givenBack = (kept: Reservation): StockMove => ({ ...kept, onHand: 0, reserved: -kept.quantity });

const idOf = ({ id }: OrderLine): string => id;
