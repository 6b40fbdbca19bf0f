/**
 * Partners and merchants write texts, and spreadsheets run a cell that begins with one of these signs, or its wide or
 * small form, as a formula. Spaces, control and invisible characters, quotes and apostrophes before it are skipped.
 */
const SIGN = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]`;
const SKIPPED = String.raw`[\s\p{Cc}\p{Cf}"']`;
/** A tab or a line break at the beginning can hide a formula. */
const BEGINS_AS_FORMULA = new RegExp(String.raw`^(?:${SKIPPED}*${SIGN}|'*[\t\r])`, "u");
/** Each is found from its beginning only: a text of nothing but spaces would take quadratic time otherwise. */
const SIGNS = new RegExp(`(?<!${SKIPPED})${SKIPPED}*${SIGN}`, "gu");

/** A row of a CSV file for spreadsheets (RFC 4180), without formulas. */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/**
 * A row of a CSV file for programs (RFC 4180): the texts as they are, but for those that an import would take for guarded ones, such
 * as one that begins with `'=`.
 */
export const rawCsvRow = (cells: readonly unknown[]): string =>
  `${cells.map((value) => (value instanceof CsvNumber ? value.text : quoted(rawText(String(value))))).join(",")}\r\n`;

const rawText = (text: string): string => (textOfCell(text) === text ? text : withoutFormula(text));

/** A negative number is no formula, whatever it begins with. */
const NUMBER = /^-?\d+(\.\d+)?$/;

function csvCell(value: unknown): string {
  if (typeof value === "object" && value instanceof CsvNumber) return value.text;
  return quoted(withoutFormula(String(value)));
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A cell that holds a number which the service has made: it stays a number for the spreadsheet, also a negative one. */
export class CsvNumber {
  readonly text: string;
  constructor(text: string) {
    if (!NUMBER.test(text)) throw new TypeError("A cell for a number holds something else.");
    this.text = text;
  }
}

/**
 * An apostrophe in front of a formula makes it text (docs/design/api-conventions.md, "Command line"). Some read the file with
 * semicolons or tabs between cells, and quotes then protect nothing: a cell also begins behind each of those, and behind a line
 * break.
 */
const withoutFormula = (text: string): string =>
  (BEGINS_AS_FORMULA.test(text) ? "'" : "") +
  text.replace(
    SIGNS,
    (signs, at: number) => (text[at - 1] === ";" ? "'" : "") + signs.replace(/[\t\r\n]/g, "$&'"),
  );

/**
 * The text of a cell before `csvRow` made its formulas text (docs/design/fulfilment.md, "Imports of a catalog"). Reverses
 * exactly that for every text.
 */
export function withFormula(cell: string): string {
  const text = cell.replace(SIGNS, (signs, at: number) =>
    (cell[at - 1] === ";" ? signs.replace(/^'/, "") : signs).replace(/([\t\r\n])'/g, "$1"),
  );
  return BEGINS_AS_FORMULA.test(text) ? text.replace(/^'/, "") : text;
}

/** A cell that makes a spreadsheet keep a text as it is: `="00123"`. */
const QUOTED_FORMULA = /^="((?:[^"]|"")*)"$/;

/** A cell that is a formula, not one that only keeps its text. */
export const isFormula = (cell: string): boolean => cell.startsWith("=") && !QUOTED_FORMULA.test(cell);

/** The text that a cell of a file means. */
export function textOfCell(cell: string): string {
  const [, quoted] = QUOTED_FORMULA.exec(cell) ?? [];
  return quoted === undefined ? withFormula(cell) : quoted.replaceAll('""', '"');
}
