import { describe, expect, it } from "vitest";
import { CsvNumber, csvRow } from "../../../src/platform/wire/csv.ts";

describe("a row of CSV", () => {
  it.each<[string, unknown[], string]>([
    ["separates cells by commas", ["a", 1, ""], "a,1,"],
    ["quotes what needs it", ["a,b", 'a"b', "a\nb"], '"a,b","a""b","a\nb"'],
    ["turns formulas into text", ["=1+1", "-5", "x;+1"], "'=1+1,'-5,x;'+1"],
    ["leaves the service's own numbers as they are", [new CsvNumber("-5.00"), new CsvNumber("0")], "-5.00,0"],
  ])("%s", (_, cells, row) => {
    expect(csvRow(cells)).toBe(`${row}\r\n`);
  });

  it.each(["=1", "1,2", "1 EUR", "", "1.", "--1"])("has no number %s", (text) => {
    expect(() => new CsvNumber(text)).toThrow(TypeError);
  });
});
