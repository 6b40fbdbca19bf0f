import { type Static, Type } from "typebox";
import { parseUuid } from "../../platform/ids.ts";
import { amountError, parseMoney } from "../../platform/money.ts";
import { withFormula } from "../../platform/wire/csv.ts";
import { type CsvRow, columnOf, decimalOf, type RowError } from "../../platform/wire/read-rows.ts";
import { createCheck } from "../../platform/wire/validation.ts";
import { PRODUCT_STATUSES, ProductRequestSchema, type ProductStatus } from "../product.ts";

const REQUIRED = ["sku", "name", "price"] as const;
const OPTIONAL = [
  "weightGrams",
  "barcode",
  "lowStockBelow",
  "description",
  "imageUrl",
  "status",
  "id",
] as const;
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];
const COLUMNS: readonly Column[] = [...REQUIRED, ...OPTIONAL];

export type ImportError = RowError;

/** The columns, in the order of the file. */
export type ImportHeader = readonly Column[];

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
  /** The columns in which it differs from its product. Null: not compared yet, or it creates one. */
  readonly differsIn: readonly string[] | null;
};

/** The columns of the header, or its errors. An unknown column can be a typing error, so it is rejected. */
export function readHeader({ line, cells }: CsvRow): ImportHeader | { errors: ImportError[] } {
  const names = cells.map((cell) => cell.trim());
  const unknown = names
    .filter((name) => !isColumn(name))
    .map((column) => ({
      line,
      column,
      rule: "unknown_column" as const,
      known: COLUMNS,
    }));
  const twice = names
    .filter((name, index) => isColumn(name) && names.indexOf(name) !== index)
    .map((column) => ({ line, column, rule: "duplicate_column" as const }));
  const missing = REQUIRED.filter((name) => !names.includes(name)).map((column) => ({
    line,
    column,
    rule: "missing_column" as const,
  }));
  const errors = [...unknown, ...twice, ...missing];
  return errors.length > 0 ? { errors } : names.filter(isColumn);
}

const isColumn = (name: string): name is Column => (COLUMNS as readonly string[]).includes(name);

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
  { line, cells, separator }: CsvRow,
  header: ImportHeader,
  currency: string,
): ImportRow | { errors: ImportError[] } {
  if (cells.length !== header.length) {
    return { errors: [{ line, rule: "cell_count", count: cells.length, expected: header.length }] };
  }
  const product = productOf({ cells, separator }, header, currency);
  const errors = check(product).map(
    ({ pointer, ...violation }): ImportError => ({ line, ...columnOf(pointer), ...violation }),
  );
  const row = product as Static<typeof RowSchema>; // Valid as far as the check has found no error.
  const priceRead = !errors.some(({ column }) => column === "price");
  const price = priceRead ? parseMoney(row.price) : null;
  if (priceRead && price === null) errors.push({ line, column: "price", ...amountError(currency) });
  if (price === null || errors.length > 0) return { errors };
  return {
    ...{ line, isMatched: false },
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
    differsIn: null,
  };
}

/** The row as a request body. An empty cell is absent. */
function productOf(
  { cells, separator }: Omit<CsvRow, "line">,
  header: ImportHeader,
  currency: string,
): Record<string, unknown> {
  const product: Record<string, unknown> = {};
  header.forEach((column, index) => {
    const cell = withFormula(cells[index] ?? ""); // An export has guarded it.
    if (cell === "") return;
    if (column === "price") product[column] = { amount: decimalOf(cell, separator), currency };
    else if ((column === "weightGrams" || column === "lowStockBelow") && /^\d{1,15}$/.test(cell))
      product[column] = Number(cell);
    else product[column] = cell;
  });
  return product;
}
