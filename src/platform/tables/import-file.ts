import { hash, randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeDataDir } from "../data-dir.ts";
import { describedErrors, type Problem } from "../wire/problems.ts";
import type { Violation } from "../wire/rules.ts";
import { hasTwoMeanings, wholeNumberOfCell } from "./amounts.ts";
import { damageInColumn, isErrorValue, possibleDamageOf } from "./damage.ts";
import { isMisread } from "./decode.ts";
import type { Columns } from "./header.ts";
import type { FileRecord, Recognised, Report, RowError } from "./read-table.ts";

/** What a caller decides about all imports. */
export type ImportOptions = {
  /** Stores nothing, and returns what an import would do. */
  readonly dryRun: boolean;
  /** Identifiers that look damaged are meant so. */
  readonly asWritten: boolean;
};

/** What the answers of all imports say about a file. */
export type FileFindings = {
  readonly recognised: Recognised;
  /** The first rows that may be wrong, and are imported. */
  readonly warnings: readonly RowError[];
};

/** Errors that are listed. Further ones are counted. */
const ERRORS_LISTED_MAX = 1_000;
/** Characters of a cell that an error shows. */
const CELL_SHOWN_MAX = 100;

/** The errors of a file. */
export class ImportErrors {
  readonly #listed: RowError[] = [];
  readonly #warnings: RowError[] = [];
  readonly #lines = new Set<number>();
  readonly #skipsInvalid: boolean;
  #isUnreadable = false;
  #count = 0;

  /** @param skipsInvalid rows with errors are left out, and the others are imported */
  constructor(skipsInvalid = false) {
    this.#skipsInvalid = skipsInvalid;
  }

  get count(): number {
    return this.#count;
  }

  /** Nothing is imported. */
  get isFinal(): boolean {
    return this.#isUnreadable || (this.#count > 0 && !this.#skipsInvalid);
  }

  /** The rows that are left out. */
  get rejected(): number {
    return this.#lines.size;
  }

  get rejections(): readonly RowError[] {
    return this.#listed.toSorted(byLine);
  }

  get warnings(): readonly RowError[] {
    return this.#warnings.toSorted(byLine);
  }

  add(errors: readonly RowError[], row?: NamedRow): void {
    this.#count += errors.length;
    for (const error of errors) {
      if (this.#skipsInvalid) this.#lines.add(error.line);
      if (this.#listed.length < ERRORS_LISTED_MAX) this.#listed.push(inRow(error, row));
    }
  }

  warn(error: RowError, row: NamedRow): void {
    if (this.#warnings.length < ERRORS_LISTED_MAX) this.#warnings.push(inRow(error, row));
  }

  readonly report: Report = (errors, of) => {
    if (of === "file") this.#isUnreadable = true;
    this.add(errors);
  };

  toProblem(): Problem {
    const count = this.#count;
    const many = this.#listed.length < count ? `the first ${this.#listed.length} of them` : "them";
    return {
      code: "validation-failed",
      detail:
        count === 1
          ? "Nothing was imported: the file has 1 error; see errors."
          : `Nothing was imported: the file has ${count} errors; errors lists ${many}.`,
      members: { errors: describedErrors(this.#listed.toSorted(byLine)), errorCount: count },
    };
  }
}

const byLine = (one: RowError, other: RowError): number => one.line - other.line;

/** What a row is about, as the file names it, and its cells. */
export type NamedRow = { readonly subject: string; readonly values: object };

/** The row, named by those of its cells that have a value. */
export const namedRow = (values: object, ...cells: readonly (string | null | undefined)[]): NamedRow => ({
  subject: cells.flatMap((cell) => (cell ? [cut(cell)] : [])).join(", "),
  values,
});

function inRow(error: RowError, row?: NamedRow): RowError {
  const { column } = error;
  if (column === undefined) return { ...error, ...(row?.subject && { subject: row.subject }) };
  const value: unknown = row === undefined ? undefined : Reflect.get(row.values, column);
  return {
    ...error,
    column: cut(column), // Of a header, it can be any text.
    ...(row?.subject && { subject: row.subject }),
    ...(typeof value === "string" && { value: cut(value) }),
  };
}

const cut = (text: string): string =>
  text.length > CELL_SHOWN_MAX ? `${text.slice(0, CELL_SHOWN_MAX)}…` : text;

type Rows = {
  readonly errors: ImportErrors;
  readonly asWritten: boolean;
  readonly max: number;
  /** The columns that name what a row is about. */
  readonly named: readonly string[];
  readonly columns: Columns;
};

/**
 * The rows that are valid without regard to what is stored. Errors of the others are added, with what a spreadsheet has done to
 * their identifiers: what is corrected is not sent twice.
 */
export async function* validRows<Row extends object>(
  records: AsyncIterable<FileRecord>,
  { errors, asWritten, max, named, columns }: Rows,
  read: (record: TypedRecord) => Row | { readonly errors: readonly RowError[] },
): AsyncGenerator<Row> {
  const { identifiers } = columns;
  let count = 0;
  for await (const record of records) {
    count += 1;
    const { line, values } = record;
    if (count > max) return errors.report([{ line, rule: "max_rows", max }], "file");
    const about = namedRow(values, ...named.map((column) => values[column]));
    const withoutValue = asWritten ? [] : errorValues(record);
    const row =
      withoutValue.length > 0 ? { errors: withoutValue } : read({ ...record, typed: typed(values, columns) });
    if ("errors" in row) {
      const damaged = asWritten ? [] : damagedCells(record, identifiers);
      const own = row.errors.map((error) => withTwoMeanings(error, record, columns));
      errors.add([...own, ...besides(row.errors, damaged)], about);
      continue;
    }
    for (const [column, value] of asWritten ? [] : Object.entries(values)) {
      const damage = identifiers.includes(column)
        ? possibleDamageOf(value)
        : isMisread(value)
          ? "letters"
          : null;
      if (damage !== null) errors.warn({ line, column, rule: "damaged", damage }, about);
    }
    yield row;
  }
}

/** A row with its values as a request has them. */
export type TypedRecord = FileRecord & { readonly typed: Readonly<Record<string, unknown>> };

/** Numbers and choices as the API has them. What is none stays a text, which the check of the row refuses. */
const typed = (
  values: FileRecord["values"],
  { numbers = [], choices = {} }: Columns,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([column, value]) => {
      if (numbers.includes(column)) return [column, wholeNumberOfCell(value) ?? value];
      const choice = value.trim().toLowerCase();
      return [column, choices[column]?.includes(choice) ? choice : value];
    }),
  );

/** A number that could be another one is not just a wrong one: a person has to say which is meant. */
function withTwoMeanings(
  error: RowError,
  { values }: FileRecord,
  { amounts, numbers = [] }: Columns,
): RowError {
  const { line, column = "" } = error;
  const isNumber = numbers.includes(column) || amounts?.columns.includes(column) === true;
  return isNumber && hasTwoMeanings(values[column] ?? "") ? { line, column, rule: "two_meanings" } : error;
}

/** The errors of columns that have none yet. */
export const besides = (known: readonly RowError[], others: readonly RowError[]): RowError[] =>
  others.filter(({ column }) => !known.some((error) => error.column === column));

/** Identifiers that look damaged, whether they are stored so or not. */
const damagedCells = ({ line, values, formulas }: FileRecord, identifiers: readonly string[]): RowError[] =>
  identifiers.flatMap((column) => {
    const damage = damageInColumn(column, values[column] ?? "", formulas.includes(column));
    return damage === null ? [] : [{ line, column, rule: "damaged", damage }];
  });

/** A violation in the words of people with spreadsheets, who know no integers and no null. */
export const asInFile = (violation: Violation): Violation =>
  violation.rule === "type" && violation.types.includes("integer")
    ? { rule: "format", format: "whole-number" }
    : violation;

/** Cells that hold no value, whatever is stored. */
const errorValues = ({ line, values }: FileRecord): RowError[] =>
  Object.entries(values).flatMap(([column, value]) =>
    isErrorValue(value) ? [{ line, column, rule: "damaged", damage: "error_value" }] : [],
  );

export async function* inBatches<Row>(rows: AsyncIterable<Row>, size: number): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * What the rows of a file have in their columns so far. Each value is kept as 63 bits of its digest, in an array: half a million
 * ids, SKUs and barcodes take 16 MB, whatever their length, and the garbage collector does not visit them.
 */
export class SeenValues {
  /** Two words for each value: its digest, whose last bit is the mark. No value: two zeros. Its length is a power of two. */
  #slots = new Uint32Array(2 * 1_024);
  #count = 0;

  /** Adds a value of a column with a mark. Returns whether an earlier row has it: with the mark, without it, or null. */
  add(
    column: "id" | "sku" | "skuInLowerCase" | "barcode" | "parcel",
    value: string,
    mark = false,
  ): boolean | null {
    const digest = hash("sha256", `${column} ${value}`, "buffer");
    const [high, low] = [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4) & ~1];
    const slot = slotOf(this.#slots, high, low);
    const last = this.#slots[slot + 1] ?? 0;
    const isKnown = this.#slots[slot] !== 0;
    this.#slots[slot] = high;
    this.#slots[slot + 1] = low | (isKnown ? last & 1 : 0) | (mark ? 1 : 0);
    if (isKnown) return (last & 1) === 1;
    this.#count += 1;
    if (this.#count > (this.#slots.length / 2) * FILLED_MAX) this.#grow();
    return null;
  }

  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    for (let from = 0; from < this.#slots.length; from += 2) {
      const [high = 0, low = 0] = this.#slots.subarray(from, from + 2);
      if (high === 0) continue;
      slots.set([high, low], slotOf(slots, high, low & ~1));
    }
    this.#slots = slots;
  }
}

const FILLED_MAX = 0.75;

/** The slot of a digest, or the free one where it belongs. */
function slotOf(slots: Uint32Array, high: number, low: number): number {
  let slot = low & (slots.length - 1); // Even, as `low` is.
  while (slots[slot] !== 0 && (slots[slot] !== high || ((slots[slot + 1] ?? 0) & ~1) !== low))
    slot = (slot + 2) & (slots.length - 1);
  return slot;
}

/** Stores batches on disk that together are too large for memory. They can be read repeatedly. */
export type TemporaryFile<T> = {
  add(batch: readonly T[]): Promise<void>;
  batches(): AsyncGenerator<T[]>;
  /** Frees the disk space. */
  close(): Promise<void>;
};

/** Works with a temporary file, whose disk space is free afterwards. */
export async function withTemporaryFile<Row, Result>(
  dataDir: string,
  work: (file: TemporaryFile<Row>) => Promise<Result>,
): Promise<Result> {
  const file = await createTemporaryFile<Row>(dataDir);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

type Extent = { readonly position: number; readonly length: number };

/**
 * The file is unlinked at once, so nothing is left of it however the process ends. It is in `DATA_DIR`, because the folder of
 * the system for such files is often read-only or in memory (docs/design/fulfilment.md, "Imports of a catalog").
 */
async function createTemporaryFile<T>(dataDir: string): Promise<TemporaryFile<T>> {
  await makeDataDir(dataDir);
  const path = join(dataDir, `import-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  const extents: Extent[] = [];
  let end = 0;
  return {
    add: async (batch) => {
      const bytes = Buffer.from(JSON.stringify(batch));
      await file.writeFile(bytes); // At the end of the file. Reads name their position, so nothing else moves it.
      extents.push({ position: end, length: bytes.length });
      end += bytes.length;
    },
    batches: async function* () {
      for (const extent of extents) yield JSON.parse(await readAt(file, extent)) as T[]; // Written by `add`.
    },
    close: () => file.close(),
  };
}

async function readAt(file: FileHandle, { position, length }: Extent): Promise<string> {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error("A temporary file is shorter than what was written to it.");
    filled += bytesRead;
  }
  return bytes.toString();
}
