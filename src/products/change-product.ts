import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import { limitReached } from "../merchants/limits.ts";
import { addProducts, lockCounts, type Merchant, readMerchantMaximum } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { isTaken, type Queryable } from "../platform/database/database.ts";
import { type Problem, ProblemError } from "../platform/wire/problems.ts";
import { auditedDetails, type Product, type ProductDetails } from "./product.ts";
import { insertProduct, lockProduct, readBarcodeOwner, updateProduct } from "./products-sql.ts";

type Change = Partial<ProductDetails & Pick<Product, "status">>;

/** Changes the given fields. Returns null if there is no such product. */
export const changeProduct = (
  context: Context,
  key: Pick<Product, "merchantId" | "id">,
  change: Change,
  by: Initiator,
): Promise<Product | null | BarcodeTaken> =>
  storeProduct(context, key.merchantId, change.barcode, () =>
    inTransaction(context, (tx) => lockAndChange(tx, context, key, change, by)),
  );

async function lockAndChange(
  tx: Queryable,
  context: Context,
  key: Pick<Product, "merchantId" | "id">,
  change: Change,
  by: Initiator,
): Promise<Product | null> {
  const product = await lockProduct(tx, key);
  if (product === null) return null;
  const { sku, name, description, imageUrl, weightGrams, barcode, lowStockBelow, priceMinor, status } = {
    ...product,
    ...change,
  };
  const after = { sku, name, description, imageUrl, weightGrams, barcode, lowStockBelow, priceMinor, status };
  if (isUnchanged(product, after)) return product; // It leaves no entry in the audit log either.
  const changed: Product = { ...product, ...after, updatedAt: context.clock.now() };
  await updateProduct(tx, changed);
  const fact = { merchantId: key.merchantId, subject: "product", ids: [key.id] } as const;
  await recordAudit(tx, context, by, { ...fact, details: auditedDetails(change) });
  return changed;
}

const isUnchanged = (product: Product, after: Required<Change>): boolean =>
  (Object.keys(after) as (keyof Change)[]).every((field) => product[field] === after[field]); // Its own fields.

/**
 * Adds a product to a merchant's catalog, in the merchant's currency. No connection sees it yet.
 * @throws ProblemError if the merchant may not have more products
 */
export async function createProduct(
  context: Context,
  merchant: Merchant,
  details: ProductDetails,
  by: Initiator,
): Promise<Product | BarcodeTaken> {
  const now = context.clock.now();
  const product: Product = {
    ...details,
    id: context.newId(),
    merchantId: merchant.id,
    currency: merchant.currency,
    status: "active",
    createdAt: now,
    updatedAt: now,
  };
  const fact = { merchantId: merchant.id, subject: "product", ids: [product.id] } as const;
  return storeProduct(context, merchant.id, details.barcode, () =>
    inTransaction(context, async (tx) => {
      await insertProduct(tx, product);
      await recordAudit(tx, context, by, { ...fact, details: auditedDetails(details) });
      await countCreated(tx, merchant.id, 1);
      return product;
    }),
  );
}

/**
 * Counts products that this transaction has stored, under the lock of the merchant's counts. Others wait from here on, so it is the
 * last step: an import stores for long, and a creation may wait for its barcodes.
 * @throws ProblemError beyond the limit, so that nothing stays stored
 */
export async function countCreated(tx: Queryable, merchantId: string, created: number): Promise<void> {
  const reached = await reachedLimit(tx, merchantId, (await lockCounts(tx, merchantId)) + created);
  if (reached !== null) throw new ProblemError(reached);
  await addProducts(tx, merchantId, created);
}

/** Null: the merchant may have so many products. */
export async function reachedLimit(
  db: Queryable,
  merchantId: string,
  products: number,
): Promise<Problem | null> {
  const productsMax = (await readMerchantMaximum(db, [merchantId], "products"))(merchantId);
  return products > productsMax ? limitReached("products", productsMax) : null;
}

/**
 * Another product of the merchant has the barcode, perhaps with more or fewer zeros before it. The unique index decides
 * (docs/design/fulfilment.md, "Codes of products"). The product is null if it has lost the barcode since.
 */
export type BarcodeTaken = { readonly takenBy: Pick<Product, "id" | "sku"> | null };

/** Runs a transaction that stores a product. Only its barcode can be taken: its id was just made, or is its own. */
async function storeProduct<T>(
  { db }: Context,
  merchantId: string,
  barcode: string | null | undefined,
  store: () => Promise<T>,
): Promise<T | BarcodeTaken> {
  try {
    return await store();
  } catch (error) {
    if (isTaken(error)) return { takenBy: await readBarcodeOwner(db, merchantId, barcode ?? "") };
    throw error;
  }
}
