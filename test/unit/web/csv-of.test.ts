import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRow } from "../../../src/platform/tables/csv.ts";
import { csvOf } from "../../../web/src/pages/imports/csv-of.ts";

describe("a CSV file that the console makes", () => {
  it.each([
    ["sku;=1+1", "sku;'=1+1"],
    ["\uff1dcmd()", "'\uff1dcmd()"],
    [" =1", "' =1"],
    ['"=1+1', `"'""=1+1"`],
    ["\u200b@x", "'\u200b@x"],
    ["\u0085=1", "'\u0085=1"],
    ["is required", "is required"],
  ])("has no cell that a spreadsheet runs: %j", (text, cell) => {
    expect(csvOf([["3", text]])).toBe(`3,${cell}\r\n`);
  });

  it("has the same text as one of the service", () => {
    const signs = fc.constantFrom(..."=+-@\uff1d;,\"' \t\r\na\u200b\u0085");
    const cells = fc.array(fc.oneof(fc.string({ unit: signs }), fc.string()), { minLength: 1 });
    fc.assert(fc.property(cells, (row) => csvOf([row]) === csvRow(row)));
  });
});
