import { barcodeKey } from "../platform/codes.ts";
import type { Queryable } from "../platform/database/database.ts";
import { damageInColumn, damageOfStored, spellingsOf } from "../platform/tables/damage.ts";
import type { RowError } from "../platform/tables/read-table.ts";
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
  /** Columns whose cells are formulas. */
  readonly formulas: readonly string[];
};

/** The products that rows name, in their order, each or why it is none (docs/design/fulfilment.md, "Imports of stock"). */
export async function findNamedProducts(
  db: Queryable,
  rows: readonly NamedProduct[],
  asWritten: boolean,
): Promise<(Pick<Product, "merchantId" | "id"> | RowError)[]> {
  const merchantOf = await readProductMerchants(
    db,
    rows.flatMap(({ productId }) => productId ?? []),
  );
  const owners = new Map<string, Owners>();
  const codesOf = (code: string | null) =>
    code === null ? [] : [code, ...(asWritten ? [] : spellingsOf(code))];
  for (const [merchantId, own] of Map.groupBy(rows, (row) => row.merchantId)) {
    if (merchantId === null) continue;
    const named = own.filter(({ productId }) => productId === null);
    const skus = named.flatMap(({ sku }) => codesOf(sku));
    const barcodes = named.flatMap(({ sku, barcode }) => (sku === null ? (barcode ?? []) : []));
    owners.set(merchantId, {
      bySku: await listSkuOwners(db, merchantId, skus),
      byBarcode: await listBarcodeOwners(db, merchantId, barcodes),
    });
  }
  return rows.map((row) => found(row, merchantOf, owners, asWritten));
}

type Owners = {
  readonly bySku: ReadonlyMap<string, { readonly id: string; readonly count: number }>;
  readonly byBarcode: ReadonlyMap<string, Pick<Product, "id">>;
};

function found(
  { line, merchantId, productId, sku, barcode, formulas }: NamedProduct,
  merchantOf: ReadonlyMap<string, string>,
  owners: ReadonlyMap<string, Owners>,
  asWritten: boolean,
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
  /** Why no product has the code: perhaps a spreadsheet has damaged it. */
  const unknown = (column: string, code: string): RowError => {
    if (asWritten) return missing(column);
    const isFormula = formulas.includes(column);
    const meant = column === "sku" ? spellingsOf(code).find((each) => own.bySku.has(each)) : undefined;
    const damage =
      meant !== undefined ? damageOfStored(code, meant) : damageInColumn(column, code, isFormula);
    if (meant !== undefined && damage !== null) return { line, column, rule: "damaged", damage, meant };
    return damage === null ? missing(column) : { line, column, rule: "damaged", damage };
  };
  if (sku !== null) {
    const owner = own.bySku.get(sku);
    if (owner === undefined) return unknown("sku", sku);
    if (owner.count > 1) return { line, column: "sku", rule: "sku_ambiguous", count: owner.count };
    return { merchantId, id: owner.id };
  }
  const owner = barcode === null ? undefined : own.byBarcode.get(barcodeKey(barcode));
  if (owner !== undefined) return { merchantId, id: owner.id };
  return barcode === null ? missing("barcode") : unknown("barcode", barcode);
}
