import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Merchant } from "../merchants/merchants-sql.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { auditedDetails, type Product, type ProductDetails } from "./product.ts";
import { insertProduct } from "./products-sql.ts";
import { type BARCODE_TAKEN, storeProduct } from "./store-product.ts";

/** Adds a product to a merchant's catalog, in the merchant's currency. No connection sees it yet. */
export async function createProduct(
  context: Context,
  merchant: Merchant,
  details: ProductDetails,
  by: Initiator,
): Promise<Product | typeof BARCODE_TAKEN> {
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
  return storeProduct(() =>
    inTransaction(context, async (tx) => {
      await insertProduct(tx, product);
      await recordAudit(tx, context, by, { ...fact, details: auditedDetails(details) });
      return product;
    }),
  );
}
