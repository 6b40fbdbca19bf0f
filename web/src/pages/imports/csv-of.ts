/**
 * Rows as CSV. A file that the console makes is as safe to open in a spreadsheet as those of the service
 * (src/platform/tables/csv.ts): the texts are the same, which a test compares for all of them. The console imports nothing of
 * the service.
 */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(cellOf).join(",")}\r\n`).join("");

/** A spreadsheet runs a cell that begins so, in the wide and small forms too, also behind spaces and quotes. */
const SIGN = String.raw`[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]`;
const SKIPPED = String.raw`[\s\p{Cc}\p{Cf}"']`;
const BEGINS_AS_FORMULA = new RegExp(String.raw`^(?:${SKIPPED}*${SIGN}|'*[\t\r])`, "u");
/** Further ones in a cell: another reader takes semicolons, tabs and line breaks as ends of cells. */
const SIGNS = new RegExp(`(?<!${SKIPPED})${SKIPPED}*${SIGN}`, "gu");

function cellOf(text: string): string {
  const inner = text.replace(
    SIGNS,
    (signs, at: number) => (text[at - 1] === ";" ? "'" : "") + signs.replace(/[\t\r\n]/g, "$&'"),
  );
  const safe = BEGINS_AS_FORMULA.test(text) ? `'${inner}` : inner;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
