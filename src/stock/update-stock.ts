import { type AppliedTransition, type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import type { Queryable } from "../platform/database/database.ts";
import {
  deleteReservations,
  linesToEnd,
  type Reservation,
  reservationSplits,
  splitReservations,
  stockMovesOf,
} from "./reservations-sql.ts";
import { lockStock, moveGoods, type StockMove } from "./stock-sql.ts";
import { markStockChanged } from "./supply-changes-sql.ts";

/**
 * Stores the effects of transitions on stock, in the transaction that has locked the orders. A line that is split keeps
 * its part of the reservation. Lines that ship leave the facility. An order that becomes settled releases its
 * reservations. Returned goods become available again if the transition requests it. Test orders, and orders without a
 * facility, do not change stock.
 *
 * One statement ends the reservations of all orders. Merchants whose stock moves are then processed one after the other,
 * in the order of their ids. Completions seldom move any.
 */
export async function updateStock(
  tx: Queryable,
  transitions: readonly AppliedTransition[],
  at: RecordContext,
): Promise<void> {
  const concerning = transitions.filter(({ before }) => !before.testMode && before.facilityId !== null);
  const lines = concerning.flatMap((transition) =>
    linesToEnd(transition).map((line) => ({ ...line, merchantId: transition.after.merchantId })),
  );
  await splitReservations(tx, concerning.flatMap(reservationSplits));
  const ended = Map.groupBy(await deleteReservations(tx, lines), ({ merchantId }) => merchantId);
  const byMerchant = Map.groupBy(concerning, ({ after }) => after.merchantId);
  for (const merchantId of [...byMerchant.keys()].sort())
    await updateStockOf(tx, merchantId, byMerchant.get(merchantId) ?? [], ended.get(merchantId) ?? [], at);
}

async function updateStockOf(
  tx: Queryable,
  merchantId: string,
  transitions: readonly AppliedTransition[],
  ended: readonly Reservation[],
  at: RecordContext,
): Promise<void> {
  const { leaving, freed } = stockMovesOf(transitions, ended);
  const actors = new Map(transitions.map(({ after, actor }) => [after.id, actor]));
  const recorded = (moves: readonly StockMove[]) =>
    moves.map((move) => {
      const actor = actors.get(move.orderId) ?? SERVICE; // Each move is of one of these orders.
      return { ...move, merchantId, movementId: at.newId(), actor };
    });
  const productIds = new Set([...leaving, ...freed].map(({ productId }) => productId));
  // All at once: a later lock could have a smaller id than an earlier one, and two transactions would deadlock.
  await lockStock(
    tx,
    [...productIds].map((id) => ({ merchantId, id })),
  );
  await moveGoods(tx, recorded(leaving), at.now); // Nothing becomes available, because it was reserved.
  const changed = await moveGoods(tx, recorded(freed), at.now);
  await markStockChanged(
    tx,
    merchantId,
    changed.map(({ id }) => id),
    at.newId(),
  );
}
