import type { Initiator } from "../audit/initiator.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { auditedDetails, type Product, type ProductDetails } from "./product.ts";
import { lockProduct, updateProduct } from "./products-sql.ts";

/** Changes the given fields. Returns null if there is no such product. */
export async function changeProduct(
  context: Context,
  key: Pick<Product, "merchantId" | "id">,
  change: Partial<ProductDetails & Pick<Product, "status">>,
  by: Initiator,
): Promise<Product | null> {
  return inTransaction(context, async (tx) => {
    const product = await lockProduct(tx, key);
    if (product === null) return null;
    const { sku, name, description, imageUrl, weightGrams, priceMinor, status } = { ...product, ...change };
    const changed: Product = {
      ...product,
      sku,
      name,
      description,
      imageUrl,
      weightGrams,
      priceMinor,
      status,
      updatedAt: context.clock.now(),
    };
    await updateProduct(tx, changed);
    const fact = { merchantId: key.merchantId, subject: "product", ids: [key.id] } as const;
    await recordAudit(tx, context, by, { ...fact, details: auditedDetails(change) });
    return changed;
  });
}
