import type { ValidationError } from "../wire/problems.ts";
import { amountOfCell } from "./amounts.ts";
import { isFormula, textOfCell } from "./csv.ts";
import {
  decode,
  type Encoding,
  encodingOf,
  type FileBytes,
  InvalidFileError,
  type TableRow,
} from "./decode.ts";
import { type Columns, columnNamed, namesIn, TITLE_ROWS_MAX } from "./header.ts";
import { ROW_BYTES_MAX, readCsv, type Separator } from "./read-csv.ts";
import { isOldWorkbook, isWorkbook, openWorkbook } from "./read-workbook.ts";

/** An error in a file: the line on which its row begins, and the column if the error is in one. */
export type RowError = Extract<ValidationError, { line: number }>;

export const TABLE_FORMATS = ["csv", "json-lines", "xlsx"] as const;

/** What was recognised in a file. Complete when all rows are read. */
export type Recognised = {
  format: (typeof TABLE_FORMATS)[number];
  /** Null: of a workbook. */
  encoding: Encoding | null;
  /** Null: not of CSV. */
  separator: Separator | null;
  /** Of the numbers that have decimals. A point if none has. */
  decimalSeparator: "point" | "comma";
  /** The sheet that is read. Null: not of a workbook. */
  readonly sheet: string | null;
};

/** A row by its columns. An empty cell is absent, and so is a null of JSON. */
export type FileRecord = {
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
  /** Columns of identifiers whose cell is a formula, and not the text of one. */
  readonly formulas: readonly string[];
};

/** Receives the errors of rows, each of which is left out, and of the file, which ends it. */
export type Report = (errors: readonly RowError[], of: "row" | "file") => void;

export type Table = {
  readonly recognised: Recognised;
  /** The columns in the order of the file. Empty of JSON lines, whose rows can differ, and with an error in the first row. */
  readonly header: readonly string[];
  readonly records: AsyncGenerator<FileRecord>;
};

const NOTHING: Recognised = {
  ...{ format: "csv", encoding: null, separator: null, decimalSeparator: "point", sheet: null },
};

/** How pages, documents and other JSON begin. The endings `.xls` and `.csv` are given to all of them. */
const OTHER_FORMATS = /^\s*(?:<|%PDF|\{|\[\s*[[{])/;

/** Enough to see which kind of file it is. */
const HEAD_BYTES = 64;

/**
 * Reads rows by their columns: from CSV (RFC 4180) as it arrives, from lines that are a JSON object each, or from the first
 * sheet of a workbook that has rows (docs/design/fulfilment.md, "Files of spreadsheets"). What the file is follows from its content.
 * A row with an error is reported, and left out.
 * @throws any error of the byte source
 */
export async function readTable(bytes: FileBytes, columns: Columns, report: Report): Promise<Table> {
  const fail = (error: unknown) => {
    if (!(error instanceof InvalidFileError)) throw error;
    report([{ line: error.line, rule: "file", fault: error.fault }], "file");
  };
  try {
    const { head, whole } = await withHead(bytes);
    if (isOldWorkbook(head)) throw new InvalidFileError(1, "old_workbook");
    if (isWorkbook(head)) {
      const { sheet, rows } = await openWorkbook(whole, columns);
      const recognised: Recognised = { ...NOTHING, format: "xlsx", sheet };
      return await table(recognised, rows, columns, report, fail);
    }
    const encoding = encodingOf(head, bytes.declared);
    const recognised: Recognised = { ...NOTHING, encoding };
    const text = decode(whole, encoding, (found) => {
      recognised.encoding = found;
    });
    const { begin, text: all } = await withBegin(text);
    if (columns.jsonLines && begin.trimStart().startsWith("{")) {
      recognised.format = "json-lines";
      return { recognised, header: [], records: guarded(readJsonLines(all, columns, report), fail) };
    }
    if (OTHER_FORMATS.test(begin)) throw new InvalidFileError(1, "not_a_table");
    return await table(recognised, readCsv(all, recognised, columns), columns, report, fail);
  } catch (error) {
    fail(error);
    return { recognised: NOTHING, header: [], records: nothing() };
  }
}

async function* nothing(): AsyncGenerator<FileRecord> {}

async function* guarded(
  records: AsyncGenerator<FileRecord>,
  fail: (error: unknown) => void,
): AsyncGenerator<FileRecord> {
  try {
    yield* records;
  } catch (error) {
    fail(error);
  }
}

async function withHead(bytes: AsyncIterable<Buffer>) {
  const chunks = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  async function* whole(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { head, whole: whole() };
}

/** The text up to its first character that is no space. */
async function withBegin(text: AsyncGenerator<string>) {
  let begin = "";
  while (begin.trim() === "" && begin.length <= ROW_BYTES_MAX) {
    const { done, value } = await text.next();
    if (done === true) break;
    begin += value;
  }
  async function* all(): AsyncGenerator<string> {
    yield begin;
    yield* text;
  }
  return { begin, text: all() };
}

/** Rows by the columns that the first of them names. */
async function table(
  recognised: Recognised,
  rows: AsyncGenerator<TableRow>,
  columns: Columns,
  report: Report,
  fail: (error: unknown) => void,
): Promise<Table> {
  const first = await headerRow(rows, columns);
  if (first === null) report([{ line: 1, rule: "header_row" }], "file");
  const header = first?.cells.map((cell) => columnNamed(cell, columns)) ?? [];
  const errors = first === null ? [] : headerErrors(header, columns, first.line);
  if (errors.length > 0) report(errors, "file"); // Without the columns, the rows have no meaning.
  if (first === null || errors.length > 0) {
    await rows.return(undefined);
    return { recognised, header: [], records: nothing() };
  }
  const records = guarded(recordsOf(recognised, rows, { header, columns, report }), fail);
  return { recognised, header: header.filter((name) => columns.known.includes(name)), records };
}

/** Programs end files with control characters. */
const isFilled = ({ cells }: TableRow): boolean => cells.some((cell) => /[^\s\p{Cc}]/u.test(cell));

async function nextFilled(rows: AsyncGenerator<TableRow>): Promise<TableRow | null> {
  for (;;) {
    const { done, value } = await rows.next();
    if (done === true) return null;
    if (isFilled(value)) return value;
  }
}

/** The first row, or, if it names no column, the first of the next ones that names several. */
async function headerRow(rows: AsyncGenerator<TableRow>, columns: Columns): Promise<TableRow | null> {
  const first = await nextFilled(rows);
  if (first === null || namesIn(first.cells, columns) > 0) return first;
  for (let count = 0; count < TITLE_ROWS_MAX; count += 1) {
    const next = await nextFilled(rows);
    if (next === null) break;
    if (namesIn(next.cells, columns) > 1) return next;
  }
  return first;
}

type Rows = {
  readonly header: readonly string[];
  readonly columns: Columns;
  readonly report: Report;
};

async function* recordsOf(
  recognised: Recognised,
  rows: AsyncGenerator<TableRow>,
  { header, columns, report }: Rows,
): AsyncGenerator<FileRecord> {
  const isText = recognised.format === "csv";
  // A spreadsheet leaves columns without anything in them.
  const width = header.findLastIndex((name) => name !== "") + 1;
  for await (const row of rows) {
    if (!isFilled(row)) continue;
    const { line, cells } = row;
    const count = cells.findLastIndex((cell) => cell.trim() !== "") + 1;
    // Spreadsheets leave out empty cells at the end of rows, and a file that was cut off has a short row at its end.
    if (isText && (count > header.length || (row.isUnended && cells.length < width))) {
      report([{ line, rule: "cell_count", count: cells.length, expected: header.length }], "row");
      continue;
    }
    const unnamed = cells.flatMap((cell, index): RowError[] =>
      cell.trim() !== "" && (header[index] ?? "") === ""
        ? [{ line, column: letterOf(index), rule: "unnamed_column" }]
        : [],
    );
    if (unnamed.length > 0) {
      report(unnamed, "row");
      continue;
    }
    const values: Record<string, string> = {};
    const formulas = isText
      ? columns.identifiers.filter((column) => isFormula(cells[header.indexOf(column)] ?? ""))
      : [];
    header.forEach((column, index) => {
      const cell = isText ? textOfCell(cells[index] ?? "") : (cells[index] ?? "");
      if (cell === "" || !columns.known.includes(column)) return;
      values[column] = columns.amounts?.columns.includes(column)
        ? amountIn(cell, columns.amounts.currency, recognised)
        : cell;
    });
    yield { line, values, formulas };
  }
}

/** The amount in a cell, or the cell as it is, which the check of the row refuses. */
function amountIn(cell: string, currency: string, recognised: Recognised): string {
  const amount = amountOfCell(cell, currency, recognised.separator !== "comma");
  if (amount?.decimals === "comma") recognised.decimalSeparator = "comma";
  return amount?.text ?? cell;
}

/** The name of a column that has none, as spreadsheets show it: A, B, …, Z, AA. */
const letterOf = (index: number): string =>
  (index < 26 ? "" : letterOf(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

/** An unknown column can be a typing error, so it is rejected. */
function headerErrors(header: readonly string[], columns: Columns, line: number): RowError[] {
  const { known, required = [], ignored = [] } = columns;
  const wrong = header.flatMap((column, index): RowError[] => {
    if (column === "" || ignored.includes(column)) return [];
    if (!known.includes(column)) return [{ line, column, rule: "unknown_column", known }];
    return header.indexOf(column) === index ? [] : [{ line, column, rule: "duplicate_column" }];
  });
  const missing = required.filter((name) => !header.includes(name));
  return [...wrong, ...missing.map((column): RowError => ({ line, column, rule: "missing_column" }))];
}

async function* readJsonLines(
  text: AsyncIterable<string>,
  { known, ignored = [] }: Columns,
  report: Report,
): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const each of linesOf(text)) {
    line += 1;
    if (each.trim() === "") continue;
    const object = valuesOf(each);
    if (object === null) {
      report([{ line, rule: "json_line" }], "row");
      continue;
    }
    const own = Object.entries(object).filter(([column]) => !ignored.includes(column));
    const errors = own.flatMap(([column, value]): RowError[] => {
      if (!known.includes(column)) return [{ line, column, rule: "unknown_column", known }];
      const isText = value === null || typeof value === "string" || typeof value === "number";
      return isText ? [] : [{ line, column, rule: "type", types: ["string", "integer", "null"] }];
    });
    if (errors.length > 0) report(errors, "row");
    else {
      const given = own.filter(([, value]) => value !== null && value !== "");
      const values = Object.fromEntries(given.map(([column, value]) => [column, String(value)]));
      yield { line, values, formulas: [] };
    }
  }
}

function valuesOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>) // An object that JSON.parse has made.
      : null;
  } catch {
    return null;
  }
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let line = 1;
  for await (const part of text) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    line += lines.length;
    yield* lines;
    if (rest.length > ROW_BYTES_MAX) throw new InvalidFileError(line, "long_row");
  }
  if (rest !== "") yield rest;
}

/** The first segment of a pointer: `/price/amount` belongs to the column `price`. */
export const columnOf = (pointer: string): { column?: string } => {
  const [, column] = pointer.split("/");
  return column === undefined ? {} : { column };
};
