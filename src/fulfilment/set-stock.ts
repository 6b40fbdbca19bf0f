import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import {
  insertMovement,
  ON_HAND_MAX,
  readMovementByReference,
  type StockMovement,
} from "../stock/stock-movements-sql.ts";
import {
  beginStocking,
  lockStock,
  type ProductKey,
  readStock,
  type StockRecord,
  saveOnHand,
} from "../stock/stock-sql.ts";
import { markStockChanged } from "../stock/supply-changes-sql.ts";

/** A count of a product. */
export type Count = {
  readonly onHand: number;
  /** The quantity that the caller believes to be on hand; undefined if it does not matter. A missing record has 0. */
  readonly expected?: number | undefined;
};

export type SetStock =
  | { readonly outcome: "set"; readonly stock: StockRecord }
  /** The quantity is less than what is reserved for orders. */
  | { readonly outcome: "below-reserved"; readonly reserved: number }
  /** Something else is on hand than was expected. */
  | { readonly outcome: "moved"; readonly onHand: number };

/**
 * Sets the quantity of a product at a facility. A product with a stock record at any facility is no longer made to
 * order. If more is available than before, waiting orders are evaluated again. A rejected count changes nothing,
 * and neither does one that finds what is recorded.
 */
export async function setStock(
  context: Context,
  facilityId: string,
  product: ProductKey,
  { onHand, expected }: Count,
  by: Initiator,
): Promise<SetStock> {
  return inTransaction<SetStock>(context, async (tx) => {
    // Without this look, a rejected first count would begin the stocking of the product.
    if (expected !== undefined && expected !== 0 && (await lockStock(tx, [product])).length === 0)
      return { outcome: "moved", onHand: 0 };
    await beginStocking(tx, product);
    await lockStock(tx, [product]);
    const before = await readStock(tx, facilityId, product);
    const { onHand: onHandBefore, reserved } = before ?? { onHand: 0, reserved: 0 };
    if (expected !== undefined && expected !== onHandBefore)
      return { outcome: "moved", onHand: onHandBefore };
    if (onHand < reserved) return { outcome: "below-reserved", reserved };
    if (before !== null && onHand === onHandBefore) return { outcome: "set", stock: before };
    const { merchantId, id: productId } = product;
    const now = context.clock.now();
    const stock = { merchantId, facilityId, productId, onHand, reserved, updatedAt: now };
    await saveOnHand(tx, stock);
    const difference = onHand - onHandBefore;
    if (difference !== 0)
      await insertMovement(tx, {
        merchantId,
        id: context.newId(),
        facilityId,
        productId,
        kind: "set",
        difference,
        onHand,
        reason: null,
        note: null,
        reference: null,
        orderId: null,
        actor: by.actor,
        createdAt: now,
      });
    if (difference > 0) await markStockChanged(tx, merchantId, [productId], context.newId());
    const details = { facilityId: toTypeId("fac", facilityId), onHand, onHandBefore: before?.onHand };
    await recordAudit(tx, context, by, { merchantId, subject: "product", ids: [productId], details });
    return { outcome: "set", stock };
  });
}

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
 * reference is made once. If more is available, waiting orders are evaluated again. See docs/design/fulfilment.md, "Stock".
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
