import { CsvError, parse } from "csv-parse";
import { type Static, Type } from "typebox";
import { parseUuid } from "../../platform/ids.ts";
import { amountError, parseMoney } from "../../platform/money.ts";
import { withFormula } from "../../platform/wire/csv.ts";
import { malformed, ProblemError, type ValidationError } from "../../platform/wire/problems.ts";
import type { CsvFault } from "../../platform/wire/rules.ts";
import { createCheck } from "../../platform/wire/validation.ts";
import { PRODUCT_STATUSES, ProductRequestSchema, type ProductStatus } from "../product.ts";

const REQUIRED = ["sku", "name", "price"] as const;
const OPTIONAL = ["weightGrams", "barcode", "description", "imageUrl", "status", "id"] as const;
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];
const COLUMNS: readonly Column[] = [...REQUIRED, ...OPTIONAL];

/** An error in a file: the line on which its row begins, and the column if the error is in one. */
export type ImportError = Extract<ValidationError, { line: number }>;

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
  { line, cells }: CsvRow,
  header: ImportHeader,
  currency: string,
): ImportRow | { errors: ImportError[] } {
  if (cells.length !== header.length) {
    return { errors: [{ line, rule: "cell_count", count: cells.length, expected: header.length }] };
  }
  const product = productOf(cells, header, currency);
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
    differsIn: null,
  };
}

/** The row as a request body. An empty cell is absent. */
function productOf(
  cells: readonly string[],
  header: ImportHeader,
  currency: string,
): Record<string, unknown> {
  const product: Record<string, unknown> = {};
  header.forEach((column, index) => {
    const cell = withFormula(cells[index] ?? ""); // An export has guarded it.
    if (cell === "") return;
    if (column === "price") product[column] = { amount: cell, currency };
    else if (column === "weightGrams" && /^\d{1,15}$/.test(cell)) product[column] = Number(cell);
    else product[column] = cell;
  });
  return product;
}

/** The first segment of a pointer: `/price/amount` belongs to the column `price`. */
const columnOf = (pointer: string): { column?: string } => {
  const [, column] = pointer.split("/");
  return column === undefined ? {} : { column };
};

/** A row of a CSV file, and the line on which it begins; the first line is 1. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

/**
 * From the row that begins on this line, the file is not valid CSV. `message` continues a sentence that begins with
 * "the row".
 */
export class InvalidCsvError extends Error {
  readonly line: number;
  readonly fault: CsvFault;
  constructor(line: number, fault: CsvFault) {
    super(fault);
    this.fault = fault;
    this.line = line;
  }
}

/**
 * Far more than a product needs. Without the limit, a quote that is never closed would read the whole file into memory.
 */
const ROW_BYTES_MAX = 256 * 1024;

/**
 * Reads CSV (RFC 4180) as it arrives: commas, cells in double quotes where necessary, lines with any of the three
 * endings, with or without a byte order mark. Empty lines are skipped. Cells are not changed.
 * @throws InvalidCsvError if it is not CSV; ProblemError if it is not UTF-8; any error of the byte source
 */
export async function* readCsv(bytes: AsyncIterable<Buffer>): AsyncGenerator<CsvRow> {
  let line = 1;
  const rows: CsvRow[] = [];
  const parser = parse({
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: ROW_BYTES_MAX,
    // Collected here instead of read from the stream: a failed stream drops the rows before the invalid one.
    on_record: (cells: string[]) => {
      if (cells.length > 1 || cells[0] !== "") rows.push({ line, cells });
      line += 1 + cells.reduce((count, cell) => count + lineBreaksIn(cell), 0);
      return null;
    },
  });
  parser.on("error", () => undefined); // The writer reports it.
  parser.resume();
  for await (const text of decode(bytes)) {
    const error = await errorOf((done) => parser.write(text, done));
    yield* rows.splice(0);
    if (error !== null) throw invalidCsv(error, line);
  }
  const error = await errorOf((done) => parser.end(done));
  yield* rows.splice(0);
  if (error !== null) throw invalidCsv(error, line);
}

const errorOf = (work: (done: (error?: Error | null) => void) => void): Promise<Error | null> =>
  new Promise((resolve) => work((error) => resolve(error ?? null)));

const invalidCsv = (error: Error, line: number): Error =>
  error instanceof CsvError ? new InvalidCsvError(line, faultOf(error)) : error;

// The library counts a line that ends with both characters as two, if it is in quotes.
const lineBreaksIn = (cell: string): number => cell.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Text in another encoding would be stored with wrong letters, without an error. */
async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of bytes) yield decoded(() => decoder.decode(chunk, { stream: true }));
  yield decoded(() => decoder.decode());
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new ProblemError(malformed("The file is not valid UTF-8."));
  }
}

function faultOf({ code }: CsvError): CsvFault {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "open_quote";
    case "CSV_MAX_RECORD_SIZE":
      return "long_row";
    default:
      return "stray_quote";
  }
}
