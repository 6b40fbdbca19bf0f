import type { Queryable } from "../database/database.ts";
import { isSettled } from "../orders/lifecycle.ts";
import type { Order } from "../orders/order.ts";
import type { OrderStep, StepContext } from "../orders/order-step.ts";
import { deleteReservations, type Reservation } from "./reservations-sql.ts";
import { announceStock, lockStock, moveStock, type StockMove } from "./stock-sql.ts";

/**
 * What a step of an order means for stock, in the transaction that holds the order's lock. Lines that ship leave the
 * house; an order that settles gives back what was still kept for it; goods that come back go on the shelf again if
 * the step says so. Test orders, and orders that no facility sends, have nothing to do with stock.
 */
export async function followOrder(tx: Queryable, step: OrderStep, context: StepContext): Promise<void> {
  const { before, after } = step;
  if (after.testMode || after.facilityId === null) return;
  const shipped = newlyShipped(before, after);
  if (shipped.length > 0) await consume(tx, after, shipped, context);
  if (isSettled(after) && !isSettled(before)) await release(tx, after, context);
  if (step.restock === true) await putBack(tx, before, after, after.facilityId, context);
}

const newlyShipped = (before: Order, after: Order): string[] => {
  const unshipped = new Set(before.lines.filter((line) => line.shipmentId === null).map((line) => line.id));
  return after.lines
    .filter((line) => line.shipmentId !== null && unshipped.has(line.id))
    .map((line) => line.id);
};

/** Nothing more becomes available by it: what leaves had been promised. */
async function consume(
  tx: Queryable,
  order: Order,
  lineIds: readonly string[],
  { now }: StepContext,
): Promise<void> {
  const kept = await deleteReservations(tx, order.connectionId, order.id, lineIds);
  await lockStock(tx, productsOf(kept));
  await moveStock(
    tx,
    kept.map((each) => ({ ...each, onHand: -each.quantity, reserved: -each.quantity })),
    now,
  );
}

/** Also of a returned order: its lines that have not been shipped never will be. */
async function release(tx: Queryable, order: Order, { newId, now }: StepContext): Promise<void> {
  const lineIds = order.lines.map((line) => line.id);
  const kept = await deleteReservations(tx, order.connectionId, order.id, lineIds);
  await lockStock(tx, productsOf(kept));
  const moves = kept.map((each) => ({ ...each, onHand: 0, reserved: -each.quantity }));
  await announceStock(tx, await moveStock(tx, moves, now), newId());
}

/** To where the order was sent from. Products without a stock record there are not counted. */
async function putBack(
  tx: Queryable,
  before: Order,
  after: Order,
  facilityId: string,
  { newId, now }: StepContext,
): Promise<void> {
  const out = new Set(
    before.shipments.filter(({ status }) => status !== "returned").map((shipment) => shipment.id),
  );
  const returned = after.shipments.filter(({ id, status }) => status === "returned" && out.has(id));
  const moves: StockMove[] = after.lines
    .filter((line) => returned.some(({ id }) => id === line.shipmentId))
    .map(({ productId, quantity }) => ({ facilityId, productId, onHand: quantity, reserved: 0 }));
  await lockStock(tx, productsOf(moves));
  await announceStock(tx, await moveStock(tx, moves, now), newId());
}

const productsOf = (things: readonly (Reservation | StockMove)[]): string[] => [
  ...new Set(things.map(({ productId }) => productId)),
];
