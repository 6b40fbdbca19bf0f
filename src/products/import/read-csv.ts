import { CsvError, parse } from "csv-parse";
import { ProblemError } from "../../platform/wire/problem-error.ts";
import { malformed } from "../../platform/wire/problems.ts";

/** A row of a CSV file, and the line on which it begins; the first line is 1. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

/** The file stops being CSV in the row that begins on this line. `message` says how, in text that follows "the row". */
export class InvalidCsvError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Far more than a product needs; a quote that is never closed must not read the whole file into memory. */
const ROW_BYTES_MAX = 256 * 1024;

/**
 * Reads CSV (RFC 4180) as it arrives: commas, cells in double quotes where they need them, lines that end in any of the
 * three ways, with or without a byte order mark. Empty lines are skipped. Cells are kept exactly as they are.
 * @throws InvalidCsvError where it is not CSV; ProblemError when it is not UTF-8; and any error of the byte source.
 */
export async function* readCsv(bytes: AsyncIterable<Buffer>): AsyncGenerator<CsvRow> {
  let line = 1;
  const rows: CsvRow[] = [];
  const parser = parse({
    relax_column_count: true,
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: ROW_BYTES_MAX,
    // Collected here, and not read from the stream: when that fails it drops the rows before the invalid one.
    on_record: (cells: string[]) => {
      if (cells.length > 1 || cells[0] !== "") rows.push({ line, cells });
      line += 1 + cells.reduce((count, cell) => count + lineBreaksIn(cell), 0);
      return null;
    },
  });
  parser.on("error", () => undefined); // Reported to the writer.
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

// The library's own count takes a line that ends with both characters as two, inside quotes.
const lineBreaksIn = (cell: string): number => cell.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Text in another encoding would be stored with lost letters, without any error. */
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
      return "has a quote where none may be: a cell with quotes is itself quoted, and they are doubled in it";
  }
}
