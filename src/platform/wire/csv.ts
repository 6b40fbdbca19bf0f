/**
 * Partners and merchants write texts, and spreadsheets run a cell that begins with one of these signs, or its wide or
 * small form, as a formula. Some read the file with semicolons or tabs between cells, and quotes then protect nothing: a
 * cell also begins behind each of those, and behind a line break. Spaces, invisible characters and quotes before a sign
 * are skipped.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s\p{Cf}"]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/gu;

/** A row of a CSV file for spreadsheets (RFC 4180), without formulas. */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** A negative number is no formula, whatever it begins with. */
const NUMBER = /^-?\d+(\.\d+)?$/;

function csvCell(value: unknown): string {
  if (typeof value === "object" && value instanceof CsvNumber) return value.text;
  const text = withoutFormula(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell that holds a number which the service has made: it stays a number for the spreadsheet, also a negative one. */
export class CsvNumber {
  readonly text: string;
  constructor(text: string) {
    if (!NUMBER.test(text)) throw new TypeError("A cell for a number holds something else.");
    this.text = text;
  }
}

/** An apostrophe in front of a formula makes it text (decision 0049). */
function withoutFormula(text: string): string {
  return text.replace(/^(?=[\t\r])/, "'").replace(FORMULA, "$1'");
}
