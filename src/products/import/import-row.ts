import { type Static, Type } from "typebox";
import { parseUuid } from "../../platform/ids.ts";
import { amountError, parseMoney } from "../../platform/money.ts";
import type { Columns } from "../../platform/tables/header.ts";
import { asInFile, type TypedRecord } from "../../platform/tables/import-file.ts";
import { columnOf, type RowError } from "../../platform/tables/read-table.ts";
import { createCheck } from "../../platform/wire/validation.ts";
import { PRODUCT_STATUSES, ProductRequestSchema, type ProductStatus } from "../product.ts";

const REQUIRED = ["sku", "name", "price"];
const OPTIONAL = ["weightGrams", "barcode", "lowStockBelow", "description", "imageUrl", "status", "id"];

export const productColumns = (currency: string): Columns => ({
  known: [...REQUIRED, ...OPTIONAL],
  required: REQUIRED,
  identifiers: ["sku", "barcode"],
  amounts: { columns: ["price"], currency },
  numbers: ["weightGrams", "lowStockBelow"],
  choices: { status: PRODUCT_STATUSES },
});

/** The columns, in the order of the file. */
export type ImportHeader = readonly string[];

/** A row that is valid without regard to other rows. A null value has no column in the file, and is not changed. */
export type ImportRow = {
  /** The line on which it begins. */
  readonly line: number;
  /** True if `id` was found by the SKU. */
  readonly isMatched: boolean;
  /** The product to change. Null creates one. */
  readonly id: string | null;
  readonly sku: string;
  readonly name: string;
  /** Minor units as text, because rows are kept as JSON. */
  readonly priceMinor: string;
  readonly weightGrams: number | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly status: ProductStatus | null;
  readonly barcode: string | null;
  readonly lowStockBelow: number | null;
  /** Columns whose cells are formulas. */
  readonly formulas: readonly string[];
  /** What its product has in the columns in which it differs. Null: not compared yet, or it creates one. */
  readonly before: Before | null;
};

/** The values of columns as the file would have them. */
export type Before = Readonly<Record<string, string | null>>;

/** A new product, with the columns that only an import has. */
const RowSchema = Type.Object({
  ...ProductRequestSchema.properties,
  status: Type.Optional(Type.Enum([...PRODUCT_STATUSES])),
  id: Type.Optional(Type.String({ format: "uuid" })),
});
const check = createCheck(RowSchema);

/**
 * Reads a row by the rules of `POST /api/merchants/{id}/products`, in the merchant's currency. Returns the row or all
 * its errors.
 */
export function readRow(
  { line, typed: { price: amount, ...values }, formulas }: TypedRecord,
  currency: string,
): ImportRow | { readonly errors: readonly RowError[] } {
  const product = { ...values, ...(amount !== undefined && { price: { amount, currency } }) };
  const errors = check(product).map(
    ({ pointer, ...violation }): RowError => ({ line, ...columnOf(pointer), ...asInFile(violation) }),
  );
  const row = product as object as Static<typeof RowSchema>; // Valid as far as the check has found no error.
  const priceRead = !errors.some(({ column }) => column === "price");
  const price = priceRead ? parseMoney(row.price) : null;
  if (priceRead && price === null) errors.push({ line, column: "price", ...amountError(currency) });
  if (price === null || errors.length > 0) return { errors };
  return {
    ...{ line, isMatched: false, formulas },
    id: row.id === undefined ? null : parseUuid(row.id),
    sku: row.sku,
    name: row.name,
    priceMinor: price.minor.toString(),
    weightGrams: row.weightGrams ?? null,
    description: row.description ?? null,
    imageUrl: row.imageUrl ?? null,
    status: row.status ?? null,
    barcode: row.barcode ?? null,
    lowStockBelow: row.lowStockBelow ?? null,
    before: null,
  };
}
