import { barcodeKey } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { RowError } from "../platform/wire/read-rows.ts";
import { listBarcodeOwners, listSkuOwners } from "./import/import-sql.ts";
import type { Product } from "./product.ts";
import { readProductMerchants } from "./products-sql.ts";

/** How a row of a file names a product: by the first of id, SKU and barcode that it has. */
export type NamedProduct = {
  readonly line: number;
  /** Null is possible beside an id only. */
  readonly merchantId: string | null;
  readonly productId: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
};

/** The products that rows name, in their order, each or why it is none (docs/design/fulfilment.md, "Imports of stock"). */
export async function findNamedProducts(
  db: Queryable,
  rows: readonly NamedProduct[],
): Promise<(Pick<Product, "merchantId" | "id"> | RowError)[]> {
  const merchantOf = await readProductMerchants(
    db,
    rows.flatMap(({ productId }) => productId ?? []),
  );
  const owners = new Map<string, Owners>();
  for (const [merchantId, own] of Map.groupBy(rows, (row) => row.merchantId)) {
    if (merchantId === null) continue;
    const named = own.filter(({ productId }) => productId === null);
    owners.set(merchantId, {
      bySku: await listSkuOwners(
        db,
        merchantId,
        named.flatMap(({ sku }) => sku ?? []),
      ),
      byBarcode: await listBarcodeOwners(
        db,
        merchantId,
        named.flatMap(({ sku, barcode }) => (sku === null ? (barcode ?? []) : [])),
      ),
    });
  }
  return rows.map((row) => found(row, merchantOf, owners));
}

type Owners = {
  readonly bySku: ReadonlyMap<string, { readonly id: string; readonly count: number }>;
  readonly byBarcode: ReadonlyMap<string, Pick<Product, "id">>;
};

function found(
  { line, merchantId, productId, sku, barcode }: NamedProduct,
  merchantOf: ReadonlyMap<string, string>,
  owners: ReadonlyMap<string, Owners>,
): Pick<Product, "merchantId" | "id"> | RowError {
  const missing = (column: string): RowError => ({
    ...{ line, column },
    ...{ rule: "not_found", kind: "merchant_product" },
  });
  if (productId !== null) {
    const owner = merchantOf.get(productId);
    if (owner === undefined || (merchantId !== null && owner !== merchantId)) return missing("productId");
    return { merchantId: owner, id: productId };
  }
  const own = merchantId === null ? undefined : owners.get(merchantId);
  if (merchantId === null || own === undefined) return { line, column: "merchantId", rule: "required" };
  if (sku !== null) {
    const owner = own.bySku.get(sku);
    if (owner === undefined) return missing("sku");
    if (owner.count > 1) return { line, column: "sku", rule: "sku_ambiguous", count: owner.count };
    return { merchantId, id: owner.id };
  }
  const owner = barcode === null ? undefined : own.byBarcode.get(barcodeKey(barcode));
  return owner === undefined ? missing("barcode") : { merchantId, id: owner.id };
}
