import { type CellValue, writeXlsxStream } from "hucre/xlsx";
import { CsvNumber, csvRow, rawCsvRow } from "./csv.ts";

/** The forms in which every table can be exported (docs/design/fulfilment.md, "Files of spreadsheets"). */
export const TABLE_FILE_FORMATS = ["csv", "spreadsheet", "xlsx"] as const;
type TableFileFormat = (typeof TABLE_FILE_FORMATS)[number];

/** What the columns of a table are called, and which of them hold numbers. All others hold text, whatever it looks like. */
export type TableColumns = { readonly columns: readonly string[]; readonly numbers: readonly string[] };

/** Rows that are read together, each with a cell for each column. */
export type TableRows = AsyncIterable<readonly (readonly unknown[])[]>;

/** A file that is sent part by part as it is read. */
export type SentFile = {
  readonly parts: AsyncIterable<string | Uint8Array>;
  readonly mediaType: string;
  /** With the ending that a person's computer opens it by. */
  readonly fileName: string;
};

/** @param name of the file, without its ending, and of the sheet */
export function writeTable(
  format: TableFileFormat,
  name: string,
  table: TableColumns,
  rows: TableRows,
): SentFile {
  switch (format) {
    case "csv":
      return { parts: csvParts(rawCsvRow, "", table, rows), mediaType: "text/csv", fileName: `${name}.csv` };
    case "spreadsheet":
      return {
        parts: csvParts(csvRow, BYTE_ORDER_MARK, table, rows),
        mediaType: "text/csv",
        fileName: `${name}.csv`,
      };
    case "xlsx":
      return { parts: workbookParts(name, table, rows), mediaType: WORKBOOK_TYPE, fileName: `${name}.xlsx` };
    default:
      return format satisfies never;
  }
}

export const WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/** Without it, Excel reads a file that is opened by a double click as Windows-1252. */
const BYTE_ORDER_MARK = "\uFEFF";

async function* csvParts(
  row: (cells: readonly unknown[]) => string,
  begin: string,
  { columns }: TableColumns,
  rows: TableRows,
): AsyncGenerator<string> {
  yield begin + row(columns);
  for await (const part of rows) if (part.length > 0) yield part.map(row).join("");
}

/** Characters of a column whose texts are short. */
const WIDTH = 18;

/** Identifiers are text cells, which no spreadsheet changes. Memory holds the rows that are read together. */
const workbookParts = (name: string, { columns, numbers }: TableColumns, rows: TableRows) =>
  writeXlsxStream(
    cellsOf(
      rows,
      columns.map((column) => numbers.includes(column)),
    ),
    {
      name,
      columns: columns.map((header) => ({
        ...{ header, width: Math.max(WIDTH, header.length + 2) },
        ...(!numbers.includes(header) && { numFmt: "@" }), // Text, also what a person types into it.
      })),
      freezePane: { rows: 1 },
    },
  );

async function* cellsOf(rows: TableRows, isNumber: readonly boolean[]): AsyncGenerator<CellValue[]> {
  for await (const part of rows)
    for (const row of part) yield row.map((value, index) => cellOf(value, isNumber[index] ?? false));
}

/** Workbooks write a character by its number so. A text that has this form is not such a character. */
const ESCAPE = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** More characters are no cell. */
const CELL_LENGTH_MAX = 32_767;

function cellOf(value: unknown, isNumber: boolean): CellValue {
  const text = value instanceof CsvNumber ? value.text : String(value);
  if (text === "") return null;
  if (isNumber) return Number(text);
  const cut = text.length > CELL_LENGTH_MAX ? `${text.slice(0, CELL_LENGTH_MAX - 1)}…` : text;
  return cut.replace(ESCAPE, "_x005F_");
}
