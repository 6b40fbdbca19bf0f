import type { Queryable } from "../../platform/database/database.ts";
import { formatMoney } from "../../platform/money.ts";
import { CsvNumber } from "../../platform/tables/csv.ts";
import type { TableColumns } from "../../platform/tables/write-table.ts";
import { UUID_MIN } from "../../platform/wire/cursor.ts";
import type { Product } from "../product.ts";
import { listProducts } from "../products-sql.ts";

/** The columns of an import, so that an exported file can be changed and imported. */
export const EXPORTED_PRODUCTS: TableColumns = {
  columns: [
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
  ],
  numbers: ["price", "weightGrams", "lowStockBelow"],
};

/** Products in memory at a time. */
const PAGE_SIZE = 500;
const ALL = { sku: null, status: null, isExposed: null, connectionId: null, text: null };

/** The rows of a merchant's catalog, oldest product first, page by page as it is read. */
export async function* exportProducts(db: Queryable, merchantId: string): AsyncGenerator<unknown[][]> {
  for (let afterId = UUID_MIN; ; ) {
    const page = { list: "export", afterId, limit: PAGE_SIZE };
    const listed = await listProducts(db, merchantId, ALL, page);
    const products = listed.products.slice(0, PAGE_SIZE);
    const last = products.at(-1);
    if (last === undefined) return;
    yield products.map(toRow);
    afterId = last.id;
  }
}

const toRow = (product: Product): unknown[] => {
  const { amount } = formatMoney({ minor: product.priceMinor, currency: product.currency });
  const { id, sku, name, weightGrams, description, imageUrl, status, barcode, lowStockBelow } = product;
  const optional = [weightGrams, description, imageUrl].map((value) => value ?? "");
  return [id, sku, name, new CsvNumber(amount), ...optional, status, barcode ?? "", lowStockBelow ?? ""];
};
