import type { Initiator } from "../../audit/initiator.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { toTypeId } from "../../platform/ids.ts";
import type { ProductKey, StockRecord } from "../../stock/stock.ts";
import { beginStocking, lockStock, readStock, saveOnHand } from "../../stock/stock-sql.ts";
import { markStockChanged } from "../../stock/supply-changes-sql.ts";

export type SetStock =
  | { readonly outcome: "set"; readonly stock: StockRecord }
  /** The quantity is less than what is reserved for orders. */
  | { readonly outcome: "below-reserved"; readonly reserved: number };

/**
 * Sets the quantity of a product at a facility. A product with a stock record at any facility is no longer made to
 * order. If more is available than before, waiting orders are evaluated again.
 */
export async function setStock(
  context: Context,
  facilityId: string,
  product: ProductKey,
  onHand: number,
  by: Initiator,
): Promise<SetStock> {
  return inTransaction(context, async (tx) => {
    await beginStocking(tx, product);
    await lockStock(tx, [product]);
    const before = await readStock(tx, facilityId, product);
    const reserved = before?.reserved ?? 0;
    if (onHand < reserved) return { outcome: "below-reserved", reserved };
    const { merchantId, id: productId } = product;
    const stock = { merchantId, facilityId, productId, onHand, reserved, updatedAt: context.clock.now() };
    await saveOnHand(tx, stock);
    if (onHand > (before?.onHand ?? 0)) await markStockChanged(tx, merchantId, [productId], context.newId());
    const details = { facilityId: toTypeId("fac", facilityId), onHand, onHandBefore: before?.onHand };
    await recordAudit(tx, context, by, { merchantId, subject: "product", ids: [productId], details });
    return { outcome: "set", stock };
  });
}
