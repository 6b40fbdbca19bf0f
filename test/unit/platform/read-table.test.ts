import { type CellValue, writeXlsx } from "hucre/xlsx";
import { describe, expect, it } from "vitest";
import { type RowError, readTable } from "../../../src/platform/tables/read-table.ts";

const COLUMNS = {
  known: ["sku", "name", "price", "description"],
  required: ["sku", "name", "price"],
  identifiers: ["sku"],
  amounts: { columns: ["price"], currency: "EUR" },
};

/** What the file says, row by row, and its errors. */
async function read(file: string | Buffer) {
  const errors: RowError[] = [];
  async function* bytes() {
    yield Buffer.from(file);
  }
  const { recognised, records } = await readTable(bytes(), COLUMNS, (found) => errors.push(...found));
  const rows: string[] = [];
  for await (const { line, values } of records) rows.push([line, ...Object.values(values)].join(" "));
  return { rows, errors, ...recognised };
}

describe("the separator", () => {
  it.each<[string, string]>([
    ["sku,name,price\nA,b,1\n", "comma"],
    ["sku;name;price\nA;b;1\n", "semicolon"],
    ["sku\tname\tprice\nA\tb\t1\n", "tab"],
    ["sku|name|price\nA|b|1\n", "pipe"],
  ])("of %j is shown by the names of the columns", async (file, separator) => {
    expect(await read(file)).toMatchObject({ rows: ["2 A b 1"], errors: [], separator });
  });

  it.each<[string, string]>([
    ["sep=|\nsku|name|price\nA|b|1\n", "pipe"],
    ['"sep=;"\r\nsku;name;price\r\nA;b;1\r\n', "semicolon"],
    ["sep=;\nsku,name,price\nA,b,1\n", "comma"],
  ])("of %j follows a line that names it, unless the columns have another one", async (file, separator) => {
    expect(await read(file)).toMatchObject({ rows: ["3 A b 1"], errors: [], separator });
  });
});

describe("a column of amounts", () => {
  it.each([
    "Price (EUR)",
    "Preis in \u20ac",
    "Preis [EUR]",
    "price/EUR",
    "VK-Preis",
    "Unit Price",
    "\u20ac Preis",
    "PRICE EUR",
  ])("is named by %j", async (name) => {
    expect(await read(`sku,name,"${name}"\nA,b,1\n`)).toMatchObject({ rows: ["2 A b 1"], errors: [] });
  });

  it.each(["Price (USD)", "Preis in $", "Price old", "EUR", "sku EUR"])(
    "is not named by %j",
    async (name) => {
      const { errors } = await read(`sku,name,"${name}"\nA,b,1\n`);
      expect(errors).toMatchObject([{ column: name, rule: "unknown_column" }, { column: "price" }]);
    },
  );
});

describe("a row", () => {
  const HEADER = "sku,name,price,description";
  it("can be short, as spreadsheets leave out empty cells at the end of rows", async () => {
    expect(await read(`${HEADER}\nA,a,1\nB,b,2,x\nC,c,3\n`)).toMatchObject({
      rows: ["2 A a 1", "3 B b 2 x", "4 C c 3"],
      errors: [],
    });
  });

  it("is an error if it is short and no line break ends it: the file may have been cut off", async () => {
    expect(await read(`${HEADER}\nA,a,1,x\nB,b,2`)).toMatchObject({
      rows: ["2 A a 1 x"],
      errors: [{ line: 3, rule: "cell_count", count: 3, expected: 4 }],
    });
    expect((await read(`${HEADER}\nA,a,1,x\nB,b,2,y`)).errors).toEqual([]);
  });

  it("is an error if it is longer than the header", async () => {
    const { errors } = await read(`${HEADER}\nA,a,1,50,x\n`);
    expect(errors).toMatchObject([{ line: 2, rule: "cell_count", count: 5 }]);
  });

  it.each(["\u001a", "\0\0\0", " ,,\t", "\u001a\n\n"])("of %j is none", async (end) => {
    expect(await read(`${HEADER}\nA,a,1,x\n${end}`)).toMatchObject({ rows: ["2 A a 1 x"], errors: [] });
  });
});

describe("a file that is something else", () => {
  it.each([
    "<html><body><table>",
    '<?xml version="1.0"?>\n<Workbook>',
    "%PDF-1.7\n",
    "{\\rtf1\\ansi sku}",
    '[{"sku":"A"}]',
    '{"sku":"A"}\n',
    "\ufeff\n<!DOCTYPE html>",
  ])("is named: %j", async (file) => {
    expect((await read(file)).errors).toEqual([{ line: 1, rule: "file", fault: "not_a_table" }]);
  });
});

describe("a workbook", () => {
  const book = async (...sheets: CellValue[][][]) =>
    Buffer.from(await writeXlsx({ sheets: sheets.map((rows, at) => ({ name: `S${at}`, rows })) }));
  const table = [
    ["SKU", "Name", "Price"],
    ["A", "b", 1],
  ];

  it.each<[string, CellValue[][][], string]>([
    ["behind a title page", [[["Our prices"], ["2026"]], table], "S1"],
    ["before another table", [table, table], "S0"],
    ["below titles", [[["x"]], [["Prices"], [], ...table]], "S1"],
    ["behind empty sheets", [[[null]], [[" "]], table], "S2"],
  ])("has its table %s", async (_, sheets, sheet) => {
    const { rows, errors, ...recognised } = await read(await book(...sheets));
    expect([rows.map((row) => row.replace(/^\d+ /, "")), errors, recognised.sheet]).toEqual([
      ["A b 1"],
      [],
      sheet,
    ]);
  });

  it("has the zeros of a format that consists of them, as a person sees them", async () => {
    const cases: [CellValue, string, string][] = [
      [123, "00000", "00123"],
      [0, "00", "00"],
      [123456, "00000", "123456"],
      ["7", "00000", "7"],
      [-7, "00000", "-7"],
      [7.5, "00000", "7.5"],
      [7, "0".repeat(31), "7"],
      [7, "0", "7"],
      [7, "#,##0", "7"],
      [7, "000.00", "7"],
      [7, "General", "7"],
    ];
    const rows = [["SKU", "Name", "Price"], ...cases.map(([value, format]) => [value, format, 1])];
    const cells = new Map(cases.map(([value, numFmt], at) => [`${at + 1},0`, { value, style: { numFmt } }]));
    const titles = { name: "S0", rows: [["Prices"]] };
    const workbook = await writeXlsx({ sheets: [titles, { name: "S1", rows, cells }] });
    const found = await read(Buffer.from(workbook));
    expect(found.rows).toEqual(cases.map(([, format, text], at) => `${at + 2} ${text} ${format} 1`));
  });

  it("without a table has the errors of its first sheet", async () => {
    const { errors } = await read(await book([[null]], [["a"]], [["b"]]));
    expect(errors[0]).toMatchObject({ column: "a", rule: "unknown_column" });
  });
});
