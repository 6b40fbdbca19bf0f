import { type AppliedTransition, type RecordContext, SERVICE } from "../lifecycle/applied-transition.ts";
import { unshippedBetween } from "../lifecycle/parts.ts";
import type { Queryable } from "../platform/database/database.ts";
import { uuidAt } from "../platform/ids.ts";
import { CLOCK_SKEW_MAX_MS, before as earlier } from "../platform/time.ts";
import {
  deleteReservations,
  insertReservations,
  linesToEnd,
  type MerchantReservation,
  type Reservation,
  reservationSplits,
  splitReservations,
  stockMovesOf,
} from "./reservations-sql.ts";
import { readTakenUnits } from "./stock-movements-sql.ts";
import { lockStock, moveGoods, type StockMove } from "./stock-sql.ts";
import { markStockChanged } from "./supply-changes-sql.ts";

/**
 * Stores the effects of transitions on stock, in the transaction that has locked the orders. A line that is split keeps
 * its part of the reservation. Lines that ship leave the facility; if their shipment is voided, they are back, and reserved. An order that becomes settled releases its
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
  const restored = await reservationsOfVoided(tx, transitions);
  const actors = new Map(transitions.map(({ after, actor }) => [after.id, actor]));
  const recorded = (moves: readonly StockMove[]) =>
    moves.map((move) => {
      const actor = actors.get(move.orderId) ?? SERVICE; // Each move is of one of these orders.
      return { ...move, merchantId, movementId: at.newId(), actor };
    });
  const productIds = new Set([...leaving, ...freed, ...restored].map(({ productId }) => productId));
  // All at once: a later lock could have a smaller id than an earlier one, and two transactions would deadlock.
  await lockStock(
    tx,
    [...productIds].map((id) => ({ merchantId, id })),
  );
  await insertReservations(tx, restored);
  const back = restored.map((kept) => ({ ...kept, onHand: kept.quantity, reserved: kept.quantity }));
  await moveGoods(tx, recorded([...leaving, ...back]), at.now); // Nothing becomes available, because it is reserved.
  const changed = await moveGoods(tx, recorded(freed), at.now);
  await markStockChanged(
    tx,
    merchantId,
    changed.map(({ id }) => id),
    at.newId(),
  );
}

/**
 * The reservations of lines whose shipment was voided: of the units that it took from the stock. Nothing was taken of a product that
 * was made to order then.
 */
async function reservationsOfVoided(
  tx: Queryable,
  transitions: readonly AppliedTransition[],
): Promise<MerchantReservation[]> {
  const reservations: MerchantReservation[] = [];
  for (const { before, after } of transitions) {
    const lines = unshippedBetween(before, after);
    const { merchantId, id: orderId, facilityId } = after;
    const [first] = before.shipments;
    if (lines.length === 0 || facilityId === null || first === undefined) continue;
    // Another process may have recorded the movements, by its own clock.
    const sinceId = uuidAt(earlier(first.createdAt, CLOCK_SKEW_MAX_MS));
    const by = { merchantId, orderId, facilityId, sinceId };
    const taken = new Map(
      await readTakenUnits(
        tx,
        by,
        lines.map(({ productId }) => productId),
      ),
    );
    for (const { id: lineId, productId, quantity } of lines) {
      const left = taken.get(productId) ?? 0;
      if (left < quantity) continue;
      taken.set(productId, left - quantity);
      reservations.push({ merchantId, orderId, lineId, facilityId, productId, quantity });
    }
  }
  return reservations;
}
