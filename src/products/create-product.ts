import type { Merchant } from "../merchants/merchants-sql.ts";
import type { Context } from "../platform/context.ts";
import type { Product, ProductDetails } from "./product.ts";
import { insertProduct } from "./products-sql.ts";

/** Adds a product to a merchant's catalog, in the merchant's currency. No connection sees it yet. */
export async function createProduct(
  { db, clock, newId }: Context,
  merchant: Merchant,
  details: ProductDetails,
): Promise<Product> {
  const now = clock.now();
  const product: Product = {
    ...details,
    id: newId(),
    merchantId: merchant.id,
    currency: merchant.currency,
    status: "active",
    createdAt: now,
    updatedAt: now,
  };
  await insertProduct(db, product);
  return product;
}
