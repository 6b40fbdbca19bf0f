import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { auditedDetails, type Product, type ProductDetails } from "./product.ts";
import { lockProduct, updateProduct } from "./products-sql.ts";
import { type BARCODE_TAKEN, storeProduct } from "./store-product.ts";

type Change = Partial<ProductDetails & Pick<Product, "status">>;

/** Changes the given fields. Returns null if there is no such product. */
export const changeProduct = (
  context: Context,
  key: Pick<Product, "merchantId" | "id">,
  change: Change,
  by: Initiator,
): Promise<Product | null | typeof BARCODE_TAKEN> =>
  storeProduct(() => inTransaction(context, (tx) => lockAndChange(tx, context, key, change, by)));

async function lockAndChange(
  tx: Queryable,
  context: Context,
  key: Pick<Product, "merchantId" | "id">,
  change: Change,
  by: Initiator,
): Promise<Product | null> {
  const product = await lockProduct(tx, key);
  if (product === null) return null;
  const { sku, name, description, imageUrl, weightGrams, barcode, priceMinor, status } = {
    ...product,
    ...change,
  };
  const after = { sku, name, description, imageUrl, weightGrams, barcode, priceMinor, status };
  if (isUnchanged(product, after)) return product; // It leaves no entry in the audit log either.
  const changed: Product = { ...product, ...after, updatedAt: context.clock.now() };
  await updateProduct(tx, changed);
  const fact = { merchantId: key.merchantId, subject: "product", ids: [key.id] } as const;
  await recordAudit(tx, context, by, { ...fact, details: auditedDetails(change) });
  return changed;
}

const isUnchanged = (product: Product, after: Required<Change>): boolean =>
  (Object.keys(after) as (keyof Change)[]).every((field) => product[field] === after[field]); // Its own fields.
