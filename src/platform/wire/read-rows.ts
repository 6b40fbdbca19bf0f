import { CsvError, parse } from "csv-parse";
import { withFormula } from "./csv.ts";
import { malformed, ProblemError, type ValidationError } from "./problems.ts";
import type { CsvFault } from "./rules.ts";

/** An error in a file: the line on which its row begins, and the column if the error is in one. */
export type RowError = Extract<ValidationError, { line: number }>;

/** What stands between the cells of a file: a comma, or what spreadsheets write where numbers have a decimal comma. */
const SEPARATORS = [",", ";", "\t"] as const;
type Separator = (typeof SEPARATORS)[number];

/** A row of a CSV file, and the line on which it begins; the first line is 1. */
export type CsvRow = {
  readonly line: number;
  readonly cells: readonly string[];
  readonly separator: Separator;
};

/** The number in a cell. Where cells are not separated by commas, decimals can be. */
export const decimalOf = (cell: string, separator: Separator): string =>
  separator === "," ? cell : cell.replace(/^(-?\d+),(\d+)$/, "$1.$2");

/** From the row that begins on this line, the file cannot be read. */
export class InvalidFileError extends Error {
  readonly line: number;
  readonly fault: CsvFault;
  constructor(line: number, fault: CsvFault) {
    super(fault);
    this.fault = fault;
    this.line = line;
  }
}

/** Far more than a row needs. Without the limit, a quote that is never closed would read the whole file into memory. */
const ROW_BYTES_MAX = 256 * 1024;

/**
 * Reads CSV (RFC 4180) as it arrives: cells in double quotes where necessary, lines with any of the three endings, with or
 * without a byte order mark. The first row shows the separator. Empty lines are skipped. Cells are not changed.
 * @throws InvalidFileError if it is not CSV; ProblemError if it is not UTF-8; any error of the byte source
 */
export const readCsv = (bytes: AsyncIterable<Buffer>): AsyncGenerator<CsvRow> => readCsvText(decode(bytes));

async function* readCsvText(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let begin = "";
  let reader: ReturnType<typeof createReader> | null = null;
  for await (const part of text) {
    begin += part;
    if (reader === null && !hasFirstRow(begin)) continue;
    reader ??= createReader(separatorOf(begin));
    yield* reader.read(begin);
    begin = "";
  }
  reader ??= createReader(separatorOf(begin));
  if (begin !== "") yield* reader.read(begin);
  yield* reader.end();
}

const FIRST_ROW = /[^\r\n]+/;

const hasFirstRow = (begin: string): boolean => /[^\r\n][\r\n]/.test(begin) || begin.length > ROW_BYTES_MAX;

/** The first row names the columns, and no name contains a separator. */
function separatorOf(begin: string): Separator {
  const [row = ""] = FIRST_ROW.exec(begin) ?? [];
  const countOf = (separator: Separator) => row.split(separator).length;
  return SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

function createReader(separator: Separator) {
  let line = 1;
  const rows: CsvRow[] = [];
  const parser = parse({
    delimiter: separator,
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: ROW_BYTES_MAX,
    // Collected here instead of read from the stream: a failed stream drops the rows before the invalid one.
    on_record: (cells: string[]) => {
      if (cells.length > 1 || cells[0] !== "") rows.push({ line, cells, separator });
      line += 1 + cells.reduce((count, cell) => count + lineBreaksIn(cell), 0);
      return null;
    },
  });
  parser.on("error", () => undefined); // The writer reports it.
  parser.resume();
  async function* taken(work: (done: (error?: Error | null) => void) => void): AsyncGenerator<CsvRow> {
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

/** A row by its columns. An empty cell is absent, and so is a null of JSON. */
export type FileRecord = {
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
};

/**
 * Reads rows by their columns as they arrive: from CSV whose first row names them, or from lines that are a JSON object each. No
 * name of a column begins with a brace, so the first character shows which. A row with an error is reported, and left out.
 * @throws ProblemError if it is not UTF-8; any error of the byte source
 */
export async function* readRecords(
  bytes: AsyncIterable<Buffer>,
  columns: readonly string[],
  report: (errors: readonly RowError[]) => void,
): AsyncGenerator<FileRecord> {
  const text = decode(bytes);
  let begin = "";
  while (begin.trim() === "") {
    const { done, value } = await text.next();
    if (done === true) return report([{ line: 1, rule: "header_row" }]);
    begin += value;
    if (begin.length > ROW_BYTES_MAX) break;
  }
  const whole = joined(begin, text);
  try {
    yield* begin.trimStart().startsWith("{")
      ? readJsonLines(whole, columns, report)
      : readCsvRecords(whole, columns, report);
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    report([{ line: error.line, rule: "csv", fault: error.fault }]);
  }
}

async function* joined(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield begin;
  yield* rest;
}

async function* readCsvRecords(
  text: AsyncIterable<string>,
  columns: readonly string[],
  report: (errors: readonly RowError[]) => void,
): AsyncGenerator<FileRecord> {
  let header: readonly string[] | null = null;
  for await (const { line, cells } of readCsvText(text)) {
    if (header === null) {
      header = cells.map((cell) => cell.trim());
      const errors = headerErrors(header, columns, line);
      if (errors.length === 0) continue;
      return report(errors); // Without the columns, the rows have no meaning.
    }
    if (cells.length !== header.length) {
      report([{ line, rule: "cell_count", count: cells.length, expected: header.length }]);
      continue;
    }
    const named = header.map((column, index) => [column, withFormula(cells[index] ?? "")] as const);
    yield { line, values: Object.fromEntries(named.filter(([, cell]) => cell !== "")) };
  }
}

/** An unknown column can be a typing error, so it is rejected. */
const headerErrors = (header: readonly string[], columns: readonly string[], line: number): RowError[] =>
  header.flatMap((column, index): RowError[] => {
    if (!columns.includes(column)) return [{ line, column, rule: "unknown_column", known: columns }];
    return header.indexOf(column) === index ? [] : [{ line, column, rule: "duplicate_column" }];
  });

async function* readJsonLines(
  text: AsyncIterable<string>,
  columns: readonly string[],
  report: (errors: readonly RowError[]) => void,
): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const each of linesOf(text)) {
    line += 1;
    if (each.trim() === "") continue;
    const values = valuesOf(each);
    if (values === null) {
      report([{ line, rule: "json_line" }]);
      continue;
    }
    const errors = Object.entries(values).flatMap(([column, value]): RowError[] => {
      if (!columns.includes(column)) return [{ line, column, rule: "unknown_column", known: columns }];
      const isText = value === null || typeof value === "string" || typeof value === "number";
      return isText ? [] : [{ line, column, rule: "type", types: ["string", "integer", "null"] }];
    });
    if (errors.length > 0) report(errors);
    else {
      const given = Object.entries(values).filter(([, value]) => value !== null && value !== "");
      yield { line, values: Object.fromEntries(given.map(([column, value]) => [column, String(value)])) };
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
