import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { toTypeId } from "../platform/ids.ts";
import {
  insertMovements,
  listAdjustments,
  ON_HAND_MAX,
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
    await beginStocking(tx, product.merchantId, [product.id]);
    await lockStock(tx, [product]);
    const before = await readStock(tx, facilityId, product);
    const { onHand: onHandBefore, reserved } = before ?? { onHand: 0, reserved: 0 };
    if (expected !== undefined && expected !== onHandBefore)
      return { outcome: "moved", onHand: onHandBefore };
    if (onHand < reserved) return { outcome: "below-reserved", reserved };
    if (before !== null && onHand === onHandBefore) return { outcome: "set", stock: before };
    const { merchantId, id: productId } = product;
    const set = {
      kind: "set",
      productId,
      before,
      onHand,
      reason: null,
      note: null,
      reference: null,
    } as const;
    const stock = await storeStock(tx, context, { merchantId, facilityId }, set, by);
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
    const { merchantId, id: productId } = product;
    const keys = reference === null ? [] : [{ productId, reference }];
    const [earlier] = await listAdjustments(tx, facilityId, merchantId, keys);
    if (earlier !== undefined)
      return earlier.difference === difference && earlier.reason === reason
        ? { outcome: "adjusted", stock: before }
        : { outcome: "reference-taken" };
    const { lowest, highest } = rangeOf(before);
    if (difference < lowest || difference > highest) return { outcome: "out-of-range", lowest, highest };
    const onHand = before.onHand + difference;
    const adjusted = { kind: "adjusted", productId, before, onHand, reason, note, reference } as const;
    const stock = await storeStock(tx, context, { merchantId, facilityId }, adjusted, by);
    const details = { facilityId: toTypeId("fac", facilityId), difference, onHand, reason };
    await recordAudit(tx, context, by, { merchantId, subject: "product", ids: [productId], details });
    return { outcome: "adjusted", stock };
  });
}

/** The differences by which a quantity can change. */
export const rangeOf = ({ onHand, reserved }: StockRecord): { lowest: number; highest: number } => ({
  lowest: reserved - onHand,
  highest: Math.max(0, ON_HAND_MAX - onHand), // A return can have exceeded the limit.
});

/** A new quantity of a product at a facility, and why. */
export type StockChange = Pick<StockMovement, "kind" | "productId" | "reason" | "note" | "reference"> & {
  /** Null: the facility has no record yet. */
  readonly before: StockRecord | null;
  readonly onHand: number;
};

/** A merchant's stock at a facility. */
type StockPlace = Pick<StockRecord, "merchantId" | "facilityId">;

async function storeStock(
  tx: Queryable,
  context: Context,
  place: StockPlace,
  change: StockChange,
  by: Initiator,
): Promise<StockRecord> {
  const [stock] = await storeStockChanges(tx, context, place, [change], by);
  if (stock === undefined) throw new Error("Each change has a record.");
  return stock;
}

/**
 * Stores new quantities of a merchant's products with their movements. Waiting orders for those of which more is available are
 * evaluated again. The caller has locked the stock of the products, and each is there once.
 */
export async function storeStockChanges(
  tx: Queryable,
  { clock, newId }: Context,
  { merchantId, facilityId }: StockPlace,
  changes: readonly StockChange[],
  { actor }: Initiator,
): Promise<StockRecord[]> {
  const now = clock.now();
  const changed = changes.map(({ before, onHand, ...change }) => ({
    ...change,
    onHand,
    reserved: before?.reserved ?? 0,
    difference: onHand - (before?.onHand ?? 0),
  }));
  const stock = changed.map(({ productId, onHand, reserved }) => ({
    ...{ merchantId, facilityId, productId },
    ...{ onHand, reserved, updatedAt: now },
  }));
  await saveOnHand(tx, merchantId, stock, now);
  const moved = changed.filter(({ difference }) => difference !== 0);
  await insertMovements(
    tx,
    merchantId,
    moved.map(({ reserved: _, ...movement }) => ({
      ...movement,
      ...{ id: newId(), merchantId, facilityId, orderId: null, actor, createdAt: now },
    })),
  );
  const more = moved.filter(({ difference }) => difference > 0).map(({ productId }) => productId);
  await markStockChanged(tx, merchantId, more, newId());
  return stock;
}
