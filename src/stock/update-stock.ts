import type { AppliedTransition, RecordContext } from "../lifecycle/applied-transition.ts";
import type { Queryable } from "../platform/database/database.ts";
import { deleteReservations } from "./reservations-sql.ts";
import { linesToEnd, stockMovesOf } from "./stock-changes.ts";
import { lockStock, moveStock } from "./stock-sql.ts";
import { markStockChanged } from "./supply-changes-sql.ts";

/**
 * Stores the effects of transitions on stock, in the transaction that has locked the orders. Lines that ship leave the
 * facility. An order that becomes settled releases its reservations. Returned goods become available again if the
 * transition says so. Test orders, and orders without a facility, do not change stock.
 *
 * Merchants are processed one after the other, in the order of their ids, because the stock of each is on its own
 * shard.
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
  const ended = await deleteReservations(tx, merchantId, transitions.flatMap(linesToEnd));
  const { leaving, freed } = stockMovesOf(transitions, ended);
  // All at once: a later lock could have a smaller id than an earlier one, and two transactions would deadlock.
  await lockStock(tx, merchantId, productsOf([...leaving, ...freed]));
  await moveStock(tx, merchantId, leaving, at.now); // Nothing becomes available, because it was reserved.
  const changed = await moveStock(tx, merchantId, freed, at.now);
  await markStockChanged(tx, merchantId, changed, at.newId());
}

const productsOf = (things: readonly { productId: string }[]): string[] => [
  ...new Set(things.map(({ productId }) => productId)),
];
