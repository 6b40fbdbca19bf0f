import { CsvError, parse } from "csv-parse";
import type { ValidationError } from "../wire/problems.ts";
import type { FileFault } from "../wire/rules.ts";
import { amountOfCell } from "./amounts.ts";
import { isFormula, textOfCell } from "./csv.ts";
import { decode, type Encoding, encodingOf, InvalidFileError, type TableRow } from "./decode.ts";
import { isOldWorkbook, isWorkbook, openWorkbook } from "./read-workbook.ts";

/** An error in a file: the line on which its row begins, and the column if the error is in one. */
export type RowError = Extract<ValidationError, { line: number }>;

/** What stands between the cells of a file: a comma, or what spreadsheets write where numbers have a decimal comma. */
const SIGNS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export const SEPARATORS = ["comma", "semicolon", "tab"] as const;
type Separator = (typeof SEPARATORS)[number];

/** The columns that a file can have. */
export type Columns = {
  readonly known: readonly string[];
  readonly required?: readonly string[];
  /** Columns of an export that an import does not read. */
  readonly ignored?: readonly string[];
  /** Columns that name something. */
  readonly identifiers: readonly string[];
  /** The columns that are amounts, and their currency. */
  readonly amounts?: { readonly columns: readonly string[]; readonly currency: string };
  /** A JSON object in each line is read too. */
  readonly jsonLines?: true;
};

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

/** Far more than a row needs. Without the limit, a quote that is never closed would read the whole file into memory. */
const ROW_BYTES_MAX = 256 * 1024;
/** Enough to see which kind of file it is. */
const HEAD_BYTES = 64;

/**
 * Reads rows by their columns: from CSV (RFC 4180) as it arrives, from lines that are a JSON object each, or from the first
 * sheet of a workbook (docs/design/fulfilment.md, "Files of spreadsheets"). What the file is follows from its content.
 * A row with an error is reported, and left out.
 * @throws any error of the byte source
 */
export async function readTable(
  bytes: AsyncIterable<Buffer>,
  columns: Columns,
  report: Report,
): Promise<Table> {
  const fail = (error: unknown) => {
    if (!(error instanceof InvalidFileError)) throw error;
    report([{ line: error.line, rule: "file", fault: error.fault }], "file");
  };
  try {
    const { head, whole } = await withHead(bytes);
    if (isOldWorkbook(head)) throw new InvalidFileError(1, "old_workbook");
    if (isWorkbook(head)) {
      const { sheet, rows } = await openWorkbook(whole);
      const recognised: Recognised = { ...NOTHING, format: "xlsx", sheet };
      return await table(recognised, rows, columns, report, fail);
    }
    const encoding = encodingOf(head);
    const recognised: Recognised = { ...NOTHING, encoding };
    const text = decode(whole, encoding, (found) => {
      recognised.encoding = found;
    });
    const { begin, text: all } = await withBegin(text);
    if (columns.jsonLines && begin.trimStart().startsWith("{")) {
      recognised.format = "json-lines";
      return { recognised, header: [], records: guarded(readJsonLines(all, columns, report), fail) };
    }
    return await table(recognised, readCsv(withQuotedFormulas(all), recognised), columns, report, fail);
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
  const first = await nextFilled(rows);
  if (first === null) report([{ line: 1, rule: "header_row" }], "file");
  const header = first?.cells.map((cell) => cell.trim()) ?? [];
  const errors = first === null ? [] : headerErrors(header, columns, first.line);
  if (errors.length > 0) report(errors, "file"); // Without the columns, the rows have no meaning.
  if (first === null || errors.length > 0) {
    await rows.return(undefined);
    return { recognised, header: [], records: nothing() };
  }
  const records = guarded(recordsOf(recognised, rows, { header, columns, report }), fail);
  return { recognised, header: header.filter((name) => columns.known.includes(name)), records };
}

const isFilled = ({ cells }: TableRow): boolean => cells.some((cell) => cell.trim() !== "");

async function nextFilled(rows: AsyncGenerator<TableRow>): Promise<TableRow | null> {
  for (;;) {
    const { done, value } = await rows.next();
    if (done === true) return null;
    if (isFilled(value)) return value;
  }
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
    if (isText && (count > header.length || cells.length < width)) {
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

/** A first line `sep=;` is of a spreadsheet, which says so what separates its cells. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?[,;\t]*(?:\r\n|\n|\r)/i;
const FIRST_ROW = /[^\r\n]+/;

/** A whole cell `="00123"` that is not in quotes, which no valid file contains: within quotes, each quote is doubled. */
const BARE_FORMULA = /(?<=^|[,;\t\r\n])="([^",;\t\r\n]+)"(?=[,;\t\r\n]|$)/g;
/** The beginning of a cell that the next part of the file may complete. Identifiers are shorter. */
const OPEN_CELL = /(?<=^|[,;\t\r\n])(?:="?|="[^",;\t\r\n]{1,300}"?)$/;

/** Puts cells `="00123"` in quotes, as spreadsheets do themselves, so that the text in them is read. */
async function* withQuotedFormulas(text: AsyncIterable<string>): AsyncGenerator<string> {
  let before = ""; // The last character that was sent, which can begin a cell.
  let rest = "";
  const quoted = (ready: string) => (before + ready).replace(BARE_FORMULA, '"=""$1"""').slice(before.length);
  for await (const part of text) {
    const all = rest + part;
    rest = (before + all).includes("=") ? (OPEN_CELL.exec(before + all)?.[0] ?? "") : "";
    const ready = all.slice(0, all.length - rest.length);
    yield quoted(ready);
    before = ready.at(-1) ?? before;
  }
  yield quoted(rest);
}

/** The first row shows the separator. Empty lines are skipped. Cells are not changed. */
async function* readCsv(text: AsyncIterable<string>, recognised: Recognised): AsyncGenerator<TableRow> {
  let begin = "";
  let reader: ReturnType<typeof createReader> | null = null;
  for await (const part of text) {
    begin += part;
    if (reader === null && !hasFirstRow(begin)) continue;
    if (reader === null) [reader, begin] = openCsv(begin, recognised);
    yield* reader.read(begin);
    begin = "";
  }
  if (reader === null) [reader, begin] = openCsv(begin, recognised);
  if (begin !== "") yield* reader.read(begin);
  yield* reader.end();
}

const hasFirstRow = (begin: string): boolean => {
  const named = begin.replace(SEPARATOR_LINE, "");
  return /[^\r\n][\r\n]/.test(named) || begin.length > ROW_BYTES_MAX;
};

function openCsv(begin: string, recognised: Recognised): [ReturnType<typeof createReader>, string] {
  const [line, named] = SEPARATOR_LINE.exec(begin) ?? ["", undefined];
  const separator = SEPARATORS.find((each) => SIGNS[each] === named) ?? separatorOf(begin);
  recognised.separator = separator;
  return [createReader(separator, line === "" ? 1 : 2), begin.slice(line.length)];
}

/** The first row names the columns, and no name contains a separator. */
function separatorOf(begin: string): Separator {
  const [row = ""] = FIRST_ROW.exec(begin) ?? [];
  const countOf = (separator: Separator) => row.split(SIGNS[separator]).length;
  return SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

function createReader(separator: Separator, firstLine: number) {
  let line = firstLine;
  const rows: TableRow[] = [];
  const parser = parse({
    delimiter: SIGNS[separator],
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: ROW_BYTES_MAX,
    // Collected here instead of read from the stream: a failed stream drops the rows before the invalid one.
    on_record: (cells: string[]) => {
      rows.push({ line, cells });
      line += 1 + cells.reduce((count, cell) => count + lineBreaksIn(cell), 0);
      return null;
    },
  });
  parser.on("error", () => undefined); // The writer reports it.
  parser.resume();
  async function* taken(work: (done: (error?: Error | null) => void) => void): AsyncGenerator<TableRow> {
    const error = await errorOf(work);
    yield* rows.splice(0);
    if (error !== null) throw invalidCsv(error, line);
  }
  return {
    read: (text: string) => taken((done) => parser.write(text, done)),
    end: () => taken((done) => parser.end(done)),
  };
}

const errorOf = (work: (done: (error?: Error | null) => void) => void): Promise<Error | null> =>
  new Promise((resolve) => work((error) => resolve(error ?? null)));

const invalidCsv = (error: Error, line: number): Error =>
  error instanceof CsvError ? new InvalidFileError(line, faultOf(error)) : error;

// The library counts a line that ends with both characters as two, if it is in quotes.
const lineBreaksIn = (cell: string): number => cell.match(/\r\n|\n|\r/g)?.length ?? 0;

function faultOf({ code }: CsvError): FileFault {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "open_quote";
    case "CSV_MAX_RECORD_SIZE":
      return "long_row";
    default:
      return "stray_quote";
  }
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
