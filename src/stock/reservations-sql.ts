import type { AppliedTransition } from "../lifecycle/applied-transition.ts";
import { isSettled } from "../lifecycle/lifecycle.ts";
import type { OrderLine } from "../lifecycle/order.ts";
import { canceledBetween, returnedBetween, splitsBetween } from "../lifecycle/parts.ts";
import { merchantsOf } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { StockMove } from "./stock-sql.ts";

/** Units reserved at a facility for a line of an order. */
export type Reservation = {
  readonly orderId: string;
  readonly lineId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly quantity: number;
};

/** Units of a merchant's stock that are reserved. */
export type MerchantReservation = Reservation & { readonly merchantId: string };

export async function insertReservations(
  tx: Queryable,
  reservations: readonly MerchantReservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  await tx.query({
    name: "insert-reservations",
    text: `
      insert into stock_reservations (merchant_id, order_id, line_id, facility_id, product_id, quantity)
      select merchant_id, order_id, line_id, facility_id, product_id, quantity
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::integer[])
        as kept (merchant_id, order_id, line_id, facility_id, product_id, quantity)`,
    values: [
      reservations.map(({ merchantId }) => merchantId),
      reservations.map(({ orderId }) => orderId),
      reservations.map(({ lineId }) => lineId),
      reservations.map(({ facilityId }) => facilityId),
      reservations.map(({ productId }) => productId),
      reservations.map(({ quantity }) => quantity),
    ],
  });
}

/** Units of a reserved line that became a line of their own. */
type ReservationSplit = {
  readonly merchantId: string;
  readonly orderId: string;
  readonly lineId: string;
  readonly restId: string;
  /** Of the new line. */
  readonly quantity: number;
};

/** Moves a part of each line's reservation to the line that was split from it. The stock keeps what is reserved. */
export async function splitReservations(tx: Queryable, splits: readonly ReservationSplit[]): Promise<void> {
  if (splits.length === 0) return;
  await tx.query({
    name: "split-reservations",
    text: `
      with reduced as (
        update stock_reservations r
        set quantity = r.quantity - split.quantity
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::integer[])
          as split (merchant_id, order_id, line_id, rest_id, quantity)
        where r.merchant_id = split.merchant_id and r.order_id = split.order_id and r.line_id = split.line_id
          and ($6::uuid[] is null or r.merchant_id = any($6))
        returning r.merchant_id, r.order_id, split.rest_id, r.facility_id, r.product_id, split.quantity
      )
      insert into stock_reservations (merchant_id, order_id, line_id, facility_id, product_id, quantity)
      select merchant_id, order_id, rest_id, facility_id, product_id, quantity
      from reduced`,
    values: [
      splits.map(({ merchantId }) => merchantId),
      splits.map(({ orderId }) => orderId),
      splits.map(({ lineId }) => lineId),
      splits.map(({ restId }) => restId),
      splits.map(({ quantity }) => quantity),
      await merchantsOf(tx, splits),
    ],
  });
}

/** Ends the reservations for lines of orders. Returns those that existed. The caller has locked the orders. */
export async function deleteReservations(
  tx: Queryable,
  lines: readonly { readonly merchantId: string; readonly orderId: string; readonly lineId: string }[],
): Promise<MerchantReservation[]> {
  if (lines.length === 0) return [];
  const rows = await tx.query<{
    merchant_id: string;
    order_id: string;
    line_id: string;
    facility_id: string;
    product_id: string;
    quantity: number;
  }>({
    name: "delete-reservations",
    text: `
      delete from stock_reservations r
      using unnest($1::uuid[], $2::uuid[], $3::uuid[]) as ended (merchant_id, order_id, line_id)
      where r.merchant_id = ended.merchant_id and r.order_id = ended.order_id and r.line_id = ended.line_id
        and ($4::uuid[] is null or r.merchant_id = any($4))
      returning r.merchant_id, r.order_id, r.line_id, r.facility_id, r.product_id, r.quantity`,
    values: [
      lines.map(({ merchantId }) => merchantId),
      lines.map(({ orderId }) => orderId),
      lines.map(({ lineId }) => lineId),
      await merchantsOf(tx, lines),
    ],
  });
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    orderId: row.order_id,
    lineId: row.line_id,
    facilityId: row.facility_id,
    productId: row.product_id,
    quantity: row.quantity,
  }));
}

/**
 * Lines that need no reservation any more: those that ship or are canceled, and all lines of an order that becomes settled or loses
 * its route, except those that shipped before: theirs ended then.
 */
export const linesToEnd = (transition: AppliedTransition): { orderId: string; lineId: string }[] => {
  const { before, after } = transition;
  // Also for a returned order, whose unshipped lines will never ship.
  const ended =
    (isSettled(after) && !isSettled(before)) || (before.routedAt !== null && after.routedAt === null);
  const shippedBefore = new Set(before.lines.filter(({ shipmentId }) => shipmentId !== null).map(idOf));
  const lines = ended
    ? after.lines.filter(({ id }) => !shippedBefore.has(id))
    : [...newlyShipped(transition), ...canceledBetween(before, after)];
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
