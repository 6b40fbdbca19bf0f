import { CsvError, parse } from "csv-parse";
import { ProblemError } from "../../platform/wire/problem-error.ts";
import { malformed } from "../../platform/wire/problems.ts";

/** A row of a CSV file, and the line on which it begins; the first line is 1. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

/**
 * From the row that begins on this line, the file is not valid CSV. `message` continues a sentence that begins with
 * "the row".
 */
export class InvalidCsvError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
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
  error instanceof CsvError ? new InvalidCsvError(line, messageOf(error)) : error;

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

function messageOf({ code }: CsvError): string {
  switch (code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "opens a quote that is never closed";
    case "CSV_MAX_RECORD_SIZE":
      return "is longer than 256 KiB; perhaps it opens a quote that is never closed";
    default:
      return "has a quote where none is allowed: put the cell in quotes, and double the quotes within it";
  }
}
