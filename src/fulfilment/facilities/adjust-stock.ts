import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { ProductKey, StockRecord } from "../../stock/stock.ts";
import { ON_HAND_MAX, type StockMovement } from "../../stock/stock-movement.ts";
import { insertMovement, readMovementByReference } from "../../stock/stock-movements-sql.ts";
import { lockStock, readStock, saveOnHand } from "../../stock/stock-sql.ts";
import { markStockChanged } from "../../stock/supply-changes-sql.ts";

/** A reason, because an adjustment always has one. */
export type Adjustment = Pick<StockMovement, "difference" | "note" | "reference"> & {
  readonly reason: NonNullable<StockMovement["reason"]>;
};

export type AdjustedStock =
  /** Also if an earlier request with the reference has made the adjustment. */
  | { readonly outcome: "adjusted"; readonly stock: StockRecord }
  | { readonly outcome: "no-record" }
  /** The reference was used for a different adjustment of this stock. */
  | { readonly outcome: "reference-taken" }
  /** The quantity would leave its range. */
  | { readonly outcome: "out-of-range"; readonly lowest: number; readonly highest: number };

/**
 * Changes the quantity of a product at a facility by a difference, whatever it is at that moment. An adjustment with a
 * reference is made once. If more is available, waiting orders are evaluated again. Decision 0094.
 */
export async function adjustStock(
  context: Context,
  facilityId: string,
  product: ProductKey,
  { difference, reason, note, reference }: Adjustment,
  by: Initiator,
): Promise<AdjustedStock> {
  return inTransaction<AdjustedStock>(context, async (tx) => {
    // Before the lookup, so that two requests with one reference wait for each other.
    await lockStock(tx, [product]);
    const before = await readStock(tx, facilityId, product);
    if (before === null) return { outcome: "no-record" };
    const earlier =
      reference === null ? null : await readMovementByReference(tx, facilityId, product, reference);
    if (earlier !== null)
      return earlier.difference === difference && earlier.reason === reason
        ? { outcome: "adjusted", stock: before }
        : { outcome: "reference-taken" };
    const lowest = before.reserved - before.onHand;
    const highest = Math.max(0, ON_HAND_MAX - before.onHand); // A return can have exceeded the limit.
    if (difference < lowest || difference > highest) return { outcome: "out-of-range", lowest, highest };
    const now = context.clock.now();
    const stock = { ...before, onHand: before.onHand + difference, updatedAt: now };
    await saveOnHand(tx, stock);
    const { merchantId, id: productId } = product;
    await insertMovement(tx, {
      merchantId,
      id: context.newId(),
      facilityId,
      productId,
      kind: "adjusted",
      difference,
      onHand: stock.onHand,
      reason,
      note,
      reference,
      orderId: null,
      actor: by.actor,
      createdAt: now,
    });
    if (difference > 0) await markStockChanged(tx, merchantId, [productId], context.newId());
    const details = { facilityId: toTypeId("fac", facilityId), difference, onHand: stock.onHand, reason };
    await recordAudit(tx, context, by, { merchantId, subject: "product", ids: [productId], details });
    return { outcome: "adjusted", stock };
  });
}
