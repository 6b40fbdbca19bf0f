import type { Queryable } from "../../platform/database/database.ts";
import { formatMoney } from "../../platform/money.ts";
import { csvRow } from "../../platform/tables/csv.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import type { Product } from "../product.ts";
import { listProducts } from "../products-sql.ts";

/** The columns of an import, so that an exported file can be changed and imported. */
const COLUMNS = [
  "id",
  "sku",
  "name",
  "price",
  "weightGrams",
  "description",
  "imageUrl",
  "status",
  "barcode",
  "lowStockBelow",
] as const;

/** Products in memory at a time. */
const PAGE_SIZE = 500;
const ALL = { sku: null, status: null, isExposed: null, connectionId: null, text: null };

/** A merchant's catalog as CSV, oldest product first, page by page as it is read. */
export async function* exportProducts(db: Queryable, merchantId: string): AsyncGenerator<string> {
  yield csvRow(COLUMNS);
  for (let afterId = UUID_MIN; ; ) {
    const page = { list: "export", afterId, limit: PAGE_SIZE };
    const listed = await listProducts(db, merchantId, ALL, page);
    const products = listed.products.slice(0, PAGE_SIZE);
    const last = products.at(-1);
    if (last === undefined) return;
    yield products.map(toRow).join("");
    afterId = last.id;
  }
}

const toRow = (product: Product): string => {
  const { amount } = formatMoney({ minor: product.priceMinor, currency: product.currency });
  const { id, sku, name, weightGrams, description, imageUrl, status, barcode, lowStockBelow } = product;
  const optional = [weightGrams, description, imageUrl].map((value) => value ?? "");
  return csvRow([id, sku, name, amount, ...optional, status, barcode ?? "", lowStockBelow ?? ""]);
};
