import { CsvError, parse } from "csv-parse";
import type { FileFault } from "../wire/rules.ts";
import { InvalidFileError, type TableRow } from "./decode.ts";
import { type Columns, namesIn, TITLE_ROWS_MAX } from "./header.ts";

/** What stands between the cells of a file: a comma, or what spreadsheets write where numbers have a decimal comma. */
const SIGNS = { comma: ",", semicolon: ";", tab: "\t", pipe: "|" } as const;
export const SEPARATORS = ["comma", "semicolon", "tab", "pipe"] as const;
export type Separator = (typeof SEPARATORS)[number];

/** Far more than a row needs. Without the limit, a quote that is never closed would read the whole file into memory. */
export const ROW_BYTES_MAX = 256 * 1024;
/** What a file says of its own separator. */
type Recognised = { separator: Separator | null };

/** A first line `sep=;` is of a spreadsheet, which says so what separates its cells. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?[,;\t|]*(?:\r\n|\n|\r)/i;

/** A whole cell `="00123"` that is not in quotes, which no valid file contains: within quotes, each quote is doubled. */
const BARE_FORMULA = /(?<=^|[,;|\t\r\n])="([^",;|\t\r\n]+)"(?=[,;|\t\r\n]|$)/g;
/** The beginning of a cell that the next part of the file may complete. Identifiers are shorter. */
const OPEN_CELL = /(?<=^|[,;|\t\r\n])(?:="?|="[^",;|\t\r\n]{1,300}"?)$/;

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

/** The row that names the columns shows the separator. Empty lines are skipped. Cells are not changed. */
export async function* readCsv(
  text: AsyncIterable<string>,
  recognised: Recognised,
  columns: Columns,
): AsyncGenerator<TableRow> {
  let begin = "";
  let isEnded = true;
  let reader: ReturnType<typeof createReader> | null = null;
  for await (const part of withQuotedFormulas(text)) {
    begin += part;
    if (part !== "") isEnded = /[\r\n]$/.test(part);
    if (reader === null && !showsSeparator(begin, columns)) continue;
    if (reader === null) [reader, begin] = openCsv(begin, recognised, columns);
    yield* reader.read(begin);
    begin = "";
  }
  if (reader === null) [reader, begin] = openCsv(begin, recognised, columns);
  if (begin !== "") yield* reader.read(begin);
  for await (const row of reader.end()) yield isEnded ? row : { ...row, isUnended: true };
}

/** True if enough has arrived: the row that names the columns, or as many rows as can be above it. */
function showsSeparator(begin: string, columns: Columns): boolean {
  const lines = linesAtBegin(begin.replace(SEPARATOR_LINE, "")).slice(0, -1); // The last one may be incomplete.
  return (
    begin.length > ROW_BYTES_MAX || lines.length > TITLE_ROWS_MAX || bestSeparator(lines, columns) !== null
  );
}

function openCsv(
  begin: string,
  recognised: Recognised,
  columns: Columns,
): [ReturnType<typeof createReader>, string] {
  const [line, named] = SEPARATOR_LINE.exec(begin) ?? ["", undefined];
  const rest = begin.slice(line.length);
  const separator =
    bestSeparator(linesAtBegin(rest), columns) ?? // Some programs write the line and separate by another sign.
    SEPARATORS.find((each) => SIGNS[each] === named) ??
    mostFrequentSeparator(rest);
  recognised.separator = separator;
  return [createReader(separator, line === "" ? 1 : 2), rest];
}

const linesAtBegin = (begin: string): string[] =>
  begin.split(/[\r\n]+/, TITLE_ROWS_MAX + 2).filter((line) => line !== "");

/** The first row shows it if none names columns: no name contains a separator. */
function mostFrequentSeparator(begin: string): Separator {
  const [first = ""] = linesAtBegin(begin);
  const countOf = (separator: Separator) => first.split(SIGNS[separator]).length;
  return SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

/** The separator between the most names of the first line that names several columns. Null if none does. */
function bestSeparator(lines: readonly string[], columns: Columns): Separator | null {
  for (const line of lines) {
    const countOf = (separator: Separator) => namesIn(line.split(SIGNS[separator]), columns);
    const best = SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
    if (countOf(best) > 1) return best;
  }
  return null;
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
