import { searchReachable } from "../platform/database/citus.ts";
import type { Queryable } from "../platform/database/database.ts";

/** More of a product has become available, and not all waiting orders have been evaluated since. */
export type StockChange = {
  readonly merchantId: string;
  readonly productId: string;
  /** Differs for each change, so that a later change is not taken for one that has been evaluated. */
  readonly id: string;
};

/** Marks that more of a merchant's products has become available. The caller has locked their stock. */
export async function markStockChanged(
  tx: Queryable,
  merchantId: string,
  productIds: readonly string[],
  changeId: string,
): Promise<void> {
  if (productIds.length === 0) return;
  await tx.query({
    name: "mark-stock-changed",
    text: `
      update stocked_products
      set supply_change_id = $3
      where merchant_id = $1 and product_id = any($2::uuid[])`,
    values: [merchantId, productIds, changeId],
  });
}

/** Those of a merchant stand together. A scan over all shards. */
export async function listStockChanges(db: Queryable): Promise<StockChange[]> {
  const rows = await searchReachable(db, "list-stock-changes", (merchants) =>
    db.query<{ merchant_id: string; product_id: string; supply_change_id: string }>({
      name: "list-stock-changes",
      text: `
        select merchant_id, product_id, supply_change_id
        from stocked_products
        where supply_change_id is not null and ($1::uuid[] is null or merchant_id = any($1))
        order by merchant_id`,
      values: [merchants],
    }),
  );
  return rows.map((row) => ({
    merchantId: row.merchant_id,
    productId: row.product_id,
    id: row.supply_change_id,
  }));
}

/** Clears a change after all waiting orders have been evaluated for it. A later change of the product stays. */
export async function clearStockChange(
  db: Queryable,
  { merchantId, productId, id }: StockChange,
): Promise<void> {
  await db.query({
    name: "clear-stock-change",
    text: `
      update stocked_products
      set supply_change_id = null
      where merchant_id = $1 and product_id = $2 and supply_change_id = $3`,
    values: [merchantId, productId, id],
  });
}
