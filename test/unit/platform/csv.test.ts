import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CsvNumber, csvRow, rawCsvRow, textOfCell, withFormula } from "../../../src/platform/tables/csv.ts";

describe("a row of CSV", () => {
  it.each<[string, unknown[], string]>([
    ["separates cells by commas", ["a", 1, ""], "a,1,"],
    ["quotes what needs it", ["a,b", 'a"b', "a\nb"], '"a,b","a""b","a\nb"'],
    ["turns formulas into text", ["=1+1", "-5", "x;+1"], "'=1+1,'-5,x;'+1"],
    ["leaves the service's own numbers as they are", [new CsvNumber("-5.00"), new CsvNumber("0")], "-5.00,0"],
  ])("%s", (_, cells, row) => {
    expect(csvRow(cells)).toBe(`${row}\r\n`);
  });

  it.each<[string, string]>([
    ["'=1", "''=1"],
    ["\t=1", "'\t'=1"],
    ["'\tx", "''\tx"],
    ["' =1", "'' =1"],
    ["it's 1-2", "it's 1-2"],
    ["'x'", "'x'"],
  ])("guards %j as %j", (text, cell) => {
    expect(csvRow([text.replace(/"/g, "")])).toBe(csvRow([text]));
    expect(csvRow([text]).trimEnd()).toBe(/[\t\r\n]/.test(text) && /[\r\n]/.test(text) ? `"${cell}"` : cell);
    expect(withFormula(cell)).toBe(text);
  });

  it.each(["\u0085=1", "\u0000=1", "\u001f\u0085 +1", "x;\u0085@a"])(
    "guards %j behind a control character",
    (text) => {
      const [cell = ""] = csvRow([text]).split("\r\n");
      expect(cell).toBe(text.startsWith("x") ? "x;'\u0085@a" : `'${text}`);
      expect(withFormula(cell)).toBe(text);
    },
  );

  it("can be read back, whatever the text is", () => {
    const sign = fc.constantFrom(..."'=+-@;\t\r\n x\"\u200b\uff1d\u0085");
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: sign }), fc.string({ unit: "binary" })), (text) => {
        const cell = csvRow([text]).slice(0, -2);
        const unquoted = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        const isGuarded = !/(^|[;\t\r\n])[\s\p{Cc}\p{Cf}"]*[=+\-@\uff1d]/u.test(unquoted);
        return isGuarded && withFormula(unquoted) === text;
      }),
      { numRuns: 500 },
    );
  });

  it("has texts as they are for programs, and an import reads each back", () => {
    expect(rawCsvRow(["=1+1", "-5", "a,b", new CsvNumber("-5.00"), "'=1", '="01"'])).toBe(
      `=1+1,-5,"a,b",-5.00,''=1,"'=""01"""\r\n`,
    );
    const sign = fc.constantFrom(..."'=+-@;\t\r\n x\"");
    fc.assert(
      fc.property(fc.string({ unit: sign }), (text) => {
        const cell = rawCsvRow([text]).slice(0, -2);
        return textOfCell(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell) === text;
      }),
    );
  });

  it("takes no more than linear time for a text of spaces", () => {
    const text = "\n".repeat(200_000);
    expect(csvRow([text, `${text}=`])).toHaveLength(3 * 200_000 + 9);
  });

  it.each(["=1", "1,2", "1 EUR", "", "1.", "--1"])("has no number %s", (text) => {
    expect(() => new CsvNumber(text)).toThrow(TypeError);
  });
});
