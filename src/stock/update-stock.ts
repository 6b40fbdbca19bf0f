import type { AppliedTransition, RecordContext } from "../lifecycle/applied-transition.ts";
import { isSettled } from "../lifecycle/lifecycle.ts";
import type { Order, OrderLine } from "../lifecycle/order.ts";
import type { Queryable } from "../platform/database/database.ts";
import { deleteReservations, type Reservation } from "./reservations-sql.ts";
import { lockStock, moveStock, type StockMove } from "./stock-sql.ts";
import { markStockChanged } from "./supply-changes-sql.ts";

/**
 * Stores what transitions mean for stock, in the transaction that has locked the orders. Lines that ship leave the
 * facility; an order that settles gives back what was still reserved for it; returned goods become available again if the
 * transition says so. Test orders, and orders that no facility sends, do not concern stock.
 *
 * One merchant after the other, in the order of their ids, because the stock of each is on a shard of its own.
 */
export async function updateStock(
  tx: Queryable,
  transitions: readonly AppliedTransition[],
  at: RecordContext,
): Promise<void> {
  const concerning = transitions.filter(({ after }) => !after.testMode && after.facilityId !== null);
  const byMerchant = Map.groupBy(concerning, ({ after }) => after.merchantId);
  for (const merchantId of [...byMerchant.keys()].sort())
    await updateStockOf(tx, merchantId, byMerchant.get(merchantId) ?? [], at);
}

async function updateStockOf(
  tx: Queryable,
  merchantId: string,
  transitions: readonly AppliedTransition[],
  at: RecordContext,
): Promise<void> {
  const leavingIds = new Set(transitions.flatMap(newlyShipped).map(idOf));
  const ended = await deleteReservations(tx, merchantId, transitions.flatMap(linesToEnd));
  const shipped = ended.filter(({ lineId }) => leavingIds.has(lineId));
  const released = ended.filter(({ lineId }) => !leavingIds.has(lineId));
  const restocked = transitions.flatMap(toRestock);
  // All of them at once: a second lock could be of a lesser id than the first, and two transactions would deadlock.
  await lockStock(tx, merchantId, productsOf([...ended, ...restocked]));
  await moveStock(tx, merchantId, shipped.map(leaving), at.now); // Nothing becomes available: it had been promised.
  const freed = [...released.map(givenBack), ...restocked];
  const changed = await moveStock(tx, merchantId, freed, at.now);
  await markStockChanged(tx, merchantId, changed, at.newId());
}

const idOf = ({ id }: OrderLine): string => id;

/** Lines for which nothing is reserved any more: those that ship, and all lines of an order that settles. */
const linesToEnd = (transition: AppliedTransition): { orderId: string; lineId: string }[] => {
  const { before, after } = transition;
  // Also of a returned order: its lines that have not been shipped never will be.
  const lines = isSettled(after) && !isSettled(before) ? after.lines : newlyShipped(transition);
  return lines.map(({ id }) => ({ orderId: after.id, lineId: id }));
};

function newlyShipped({ before, after }: AppliedTransition): OrderLine[] {
  const unshipped = new Set(before.lines.filter((line) => line.shipmentId === null).map(idOf));
  return after.lines.filter((line) => line.shipmentId !== null && unshipped.has(line.id));
}

/** Returned goods go back to the facility that sent them. A product without a stock record there is not counted. */
function toRestock({ before, after, restock }: AppliedTransition): StockMove[] {
  const { facilityId } = after;
  if (restock !== true || facilityId === null) return [];
  return newlyReturned(before, after).map(({ productId, quantity }) => ({
    ...{ facilityId, productId },
    ...{ onHand: quantity, reserved: 0 },
  }));
}

function newlyReturned(before: Order, after: Order): OrderLine[] {
  const out = new Set(
    before.shipments.filter(({ status }) => status !== "returned").map((shipment) => shipment.id),
  );
  const returned = after.shipments.filter(({ id, status }) => status === "returned" && out.has(id));
  return after.lines.filter((line) => returned.some(({ id }) => id === line.shipmentId));
}

const leaving = (kept: Reservation): StockMove => ({
  ...kept,
  onHand: -kept.quantity,
  reserved: -kept.quantity,
});

const givenBack = (kept: Reservation): StockMove => ({ ...kept, onHand: 0, reserved: -kept.quantity });

const productsOf = (things: readonly { productId: string }[]): string[] => [
  ...new Set(things.map(({ productId }) => productId)),
];
