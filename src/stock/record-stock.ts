import type { AppliedTransition, RecordContext } from "../lifecycle/applied-transition.ts";
import { isSettled } from "../lifecycle/lifecycle.ts";
import type { Order, OrderLine } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import { deleteReservations, type Reservation } from "./reservations-sql.ts";
import { lockStock, moveStock, type StockMove } from "./stock-sql.ts";
import { markStockChanged } from "./supply-changes-sql.ts";

/**
 * What a transition of an order means for stock, in the transaction that has locked the order. Lines that ship leave
 * the stock; an order that is settled releases its remaining reservations; returned goods are restocked if requested.
 * Test orders, and orders without a facility, do not affect stock.
 */
export async function followOrder(tx: Queryable, step: AppliedTransition, at: RecordContext): Promise<void> {
  const { before, after } = step;
  if (after.testMode || after.facilityId === null) return;
  const shipped = await endReservations(tx, after, newlyShipped(before, after));
  const settles = isSettled(after) && !isSettled(before);
  // Also of a returned order: its lines that have not been shipped never will be.
  const released = settles ? await endReservations(tx, after, after.lines.map(idOf)) : [];
  const returned = step.restock === true ? newlyReturned(before, after) : [];
  // All of them at once: a second lock could have a lower id than the first, and two transactions would deadlock.
  await lockStock(tx, after.merchantId, productsOf([...shipped, ...released, ...returned]));
  await moveStock(tx, after.merchantId, shipped.map(leaving), at.now); // Nothing becomes available by it: it had been promised.
  const freed = [...released.map(givenBack), ...returned.map(putBackAt(after.facilityId))];
  const changed = await moveStock(tx, after.merchantId, freed, at.now);
  await markStockChanged(tx, after.merchantId, changed, at.newId());
}

const idOf = ({ id }: OrderLine): string => id;

const newlyShipped = (before: Order, after: Order): string[] => {
  const unshipped = new Set(before.lines.filter((line) => line.shipmentId === null).map(idOf));
  return after.lines.filter((line) => line.shipmentId !== null && unshipped.has(line.id)).map(idOf);
};

function newlyReturned(before: Order, after: Order): OrderLine[] {
  const out = new Set(
    before.shipments.filter(({ status }) => status !== "returned").map((shipment) => shipment.id),
  );
  const returned = after.shipments.filter(({ id, status }) => status === "returned" && out.has(id));
  return after.lines.filter((line) => returned.some(({ id }) => id === line.shipmentId));
}

const endReservations = async (
  tx: Queryable,
  order: Order,
  lineIds: readonly string[],
): Promise<Reservation[]> => (lineIds.length === 0 ? [] : deleteReservations(tx, order, order.id, lineIds));

const leaving = (kept: Reservation): StockMove => ({
  ...kept,
  onHand: -kept.quantity,
  reserved: -kept.quantity,
});

const givenBack = (kept: Reservation): StockMove => ({ ...kept, onHand: 0, reserved: -kept.quantity });

/** To where the order was sent from. Products without a stock record there are not counted. */
const putBackAt =
  (facilityId: string) =>
  ({ productId, quantity }: OrderLine): StockMove => ({
    facilityId,
    productId,
    onHand: quantity,
    reserved: 0,
  });

const productsOf = (things: readonly { productId: string }[]): string[] => [
  ...new Set(things.map(({ productId }) => productId)),
];
