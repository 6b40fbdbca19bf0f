import { deflateRawSync } from "node:zlib";
import { type CellValue, writeXlsx } from "hucre/xlsx";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { created } from "../support/builders.ts";
import { createFacility } from "../support/facilities.ts";
import { importCsv } from "../support/imports.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let merchantId: string;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());
beforeEach(async () => {
  const merchant = { name: "M", accountEmail: "m@example.com" };
  merchantId = (await created(test.backOffice.post("/api/merchants", merchant))).id;
});

const price = { amount: "1.00", currency: "EUR" };
const create = async (sku: string, fields: object = {}): Promise<string> =>
  (await test.backOffice.post(`/api/merchants/${merchantId}/products`, { sku, name: sku, price, ...fields }))
    .body.id;
type Options = Parameters<typeof importCsv>[3];
const importInto = (file: string | Buffer, options?: Options): Promise<Answer> =>
  importCsv(test.backOffice, merchantId, file, options);
const products = async (): Promise<Answer["body"][]> =>
  (await test.backOffice.get(`/api/merchants/${merchantId}/products?limit=100`)).body.data;
const HEADER = "sku,name,price";

async function expectRefused(file: string | Buffer, errors: object[], options?: Options): Promise<void> {
  const before = await dumpTables(test);
  const { status, body } = await importInto(file, options);
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.errors).toMatchObject(errors);
  expect(body.errors).toHaveLength(errors.length);
  expect(await dumpTables(test)).toEqual(before);
}

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
async function workbook(
  rows: CellValue[][],
  more: { name: string; rows: CellValue[][] }[] = [],
): Promise<Buffer> {
  const sheets = [{ name: "Catalog", rows }, ...more];
  return Buffer.from(await writeXlsx({ sheets }));
}

describe("an import recognises", () => {
  const text = (separator: string, amount: string) =>
    `${["sku", "name", "price"].join(separator)}\r\n${["M\u00dc-1", "Gr\u00f6\u00dfe 5 \u20ac", amount].join(separator)}\r\n`;
  const windows = (all: string) => Buffer.from(all.replaceAll("\u20ac", "\x80"), "latin1");

  it.each<[string, Buffer, object]>([
    [
      "UTF-8 with commas",
      Buffer.from(text(",", "12.50")),
      { encoding: "utf-8", separator: "comma", decimalSeparator: "point" },
    ],
    [
      "what a German Excel saves",
      windows(text(";", "12,50")),
      { encoding: "windows-1252", separator: "semicolon", decimalSeparator: "comma" },
    ],
    [
      "its Unicode text",
      Buffer.from(`\ufeff${text("\t", "12,50")}`, "utf16le"),
      { encoding: "utf-16le", separator: "tab", decimalSeparator: "comma" },
    ],
    [
      "its CSV in UTF-8",
      Buffer.from(`\ufeff${text(";", "12,50")}`),
      { encoding: "utf-8", separator: "semicolon" },
    ],
    [
      "UTF-16 of the other order",
      Buffer.from(`\ufeff${text(";", "12,50")}`, "utf16le").swap16(),
      { encoding: "utf-16be" },
    ],
    ["a line with the separator", Buffer.from(`sep=;\r\n${text(";", "12,50")}`), { separator: "semicolon" }],
  ])("%s", async (_, file, recognised) => {
    const { status, body } = await importInto(file);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.recognised).toMatchObject({ format: "csv", sheet: null, ...recognised });
    expect(await products()).toMatchObject([
      { sku: "M\u00dc-1", name: "Gr\u00f6\u00dfe 5 \u20ac", price: { amount: "12.50" } },
    ]);
  });

  it("no encoding where the sender names one, unless the file has a mark; one that is not known is 415", async () => {
    const file = Buffer.from("sku,name,price\nA,Gr\u00f6\u00dfe,1.00\n");
    const read = async (charset: string, bytes = file) => {
      const { status, body } = await importInto(bytes, { type: `text/csv; charset=${charset}` });
      return [status, body.recognised?.encoding ?? body.detail, (await products()).map(({ name }) => name)];
    };
    expect((await read("shift_jis")).slice(0, 2)).toEqual([
      415,
      expect.stringContaining("must be utf-8, utf-16, windows-1252 or iso-8859-1"),
    ]);
    const asWestern = "Gr\u00c3\u00b6\u00c3\u0178e";
    expect(await read('"ISO-8859-1"')).toEqual([200, "windows-1252", [asWestern]]);
    const marked = Buffer.concat([Buffer.from("\ufeff"), Buffer.from("sku,name,price\nB,\u00d6l,1.00\n")]);
    expect(await read("windows-1252", marked)).toEqual([200, "utf-8", expect.arrayContaining(["\u00d6l"])]);
  });

  it("a workbook, and reads its first visible sheet", async () => {
    const file = await workbook(
      [
        ["sku", "name", "price", "barcode", null, "weightGrams"],
        ["00123", 'M\u00fcsli <&> "1"', 12.5, 4006381333931, null, 380],
        [null, null, null, null],
        ["A", "=1+1", "7.90", "036000291452", null, null],
      ],
      [{ name: "Other", rows: [["x"]] }],
    );
    const { status, body } = await importInto(file, { type: XLSX });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.recognised).toEqual({
      ...{ format: "xlsx", encoding: null, separator: null, decimalSeparator: "point", sheet: "Catalog" },
    });
    expect(await products()).toMatchObject([
      {
        ...{ sku: "00123", name: 'M\u00fcsli <&> "1"', price: { amount: "12.50" } },
        ...{ barcode: "4006381333931", weightGrams: 380 },
      },
      { sku: "A", name: "=1+1", price: { amount: "7.90" }, barcode: "036000291452" },
    ]);
    expect((await importInto(file, { match: "sku" })).body, "by its content alone").toMatchObject({
      unchanged: 2,
    });
  });

  it.each([
    ["in other letters", "SKU, Name ,PRICE,weight grams\nA,a,1,5\n"],
    ["in German", "Art.-Nr.;Bezeichnung;Preis;Gewicht (g)\nA;a;1;5\n"],
    ["in quotes", '"Artikelnummer"\t"Artikelname"\t"Preis"\t"Weight (g)"\nA\ta\t1\t5\n'],
    ["below a title with commas", "Preisliste, Stand 12.10.2026\n\nsku;name;price;weightGrams\nA;a;1;5\n"],
    ["below rows of notes", "Catalog;;;\n;as of;today;\nSku;Name;Price;Weight grams\nA;a;1;5\n"],
  ])("columns %s", async (_, file) => {
    const { status, body } = await importInto(file);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(await products()).toMatchObject([{ sku: "A", name: "a", weightGrams: 5 }]);
  });

  it("German words of stock and tracking, each only where it has one meaning", async () => {
    await create("A");
    const facility = await createFacility(test);
    const send = (path: string, rawBody: string) =>
      test.backOffice.request("POST", path, { rawBody, headers: { "content-type": "text/csv" } });
    const stock = `/api/facilities/${facility}/stock/import?merchantId=${merchantId}`;
    const counted = await send(stock, "Artikelnummer;Bezeichnung;Bestand\nA;egal;5\n");
    expect(counted.body).toMatchObject({ changed: 1, changes: [{ line: 2, onHand: 5 }] });
    const unclear = await send(stock, "Artikelnummer;Menge\nA;5\n");
    expect(unclear.body.errors).toMatchObject([{ line: 1, column: "Menge", rule: "unknown_column" }]);
    expect(unclear.body.errors[0].detail).toContain("onHand, difference");
    const shipped = await send(
      "/api/shipments/import",
      "Bestellnummer;Versanddienst;Sendungsnummer\nPO-1;DHL;T-1\n",
    );
    expect(shipped.body.rejections).toMatchObject([
      { line: 2, errors: [{ column: "externalOrderId", rule: "not_found" }] },
    ]);
  });

  it("the first sheet that is not empty", async () => {
    const file = await writeXlsx({
      sheets: [
        { name: "Sheet1", rows: [[null], [" "]] },
        { name: "Items", rows: [["Catalog 2026"], [], ["SKU", "Name", "Price"], ["A", "a", 1]] },
        { name: "Later", rows: [["SKU"]] },
      ],
    });
    const { body } = await importInto(Buffer.from(file), { type: XLSX });
    expect(body).toMatchObject({
      created: 1,
      recognised: { sheet: "Items" },
      products: [{ line: 4, sku: "A" }],
    });
  });

  it("prices as people write them, and refuses by line what has two meanings", async () => {
    const file = `${HEADER}\nA,a,"1.234,50"\nB,b,"1,234.50 EUR"\nC,c,€ 12.50\nD,d,"12,50"\n`;
    const { body } = await importInto(file);
    expect(body.products.map(({ price }: Answer["body"]) => price.amount)).toEqual([
      ...["1234.50", "1234.50", "12.50", "12.50"],
    ]);
    expect(body.recognised.decimalSeparator).toBe("comma");
    await expectRefused(`${HEADER}\nE,e,"1,250"\nF,f,1.250\nG,g,$ 1\nH,h,2\n`, [
      { line: 2, column: "price", rule: "two_meanings", value: "1,250" },
      { line: 3, column: "price", rule: "two_meanings", value: "1.250" },
      { line: 4, column: "price", rule: "format", format: "amount" },
    ]);
    const dinars = { name: "K", accountEmail: "k@example.com", currency: "KWD" };
    merchantId = (await created(test.backOffice.post("/api/merchants", dinars))).id;
    await importInto(`${HEADER}\nA,a,1.250\n`);
    expect(await products()).toMatchObject([{ price: { amount: "1.250", currency: "KWD" } }]);
  });

  it("rows and columns without anything in them, and skips them", async () => {
    expect((await importInto(`${HEADER},,\nA,a,1,,\n,,,,\n  ,,,,\nB,b,2,,,,\n\n`)).body).toMatchObject({
      created: 2,
    });
    await expectRefused(`${HEADER},,\nC,c,1,,x\n`, [{ line: 2, column: "E", rule: "unnamed_column" }]);
  });

  it("the file of stock and of tracking in the same way", async () => {
    await create("M\u00dc-1");
    const facility = await createFacility(test);
    const stock = `/api/facilities/${facility}/stock/import?merchantId=${merchantId}`;
    const send = (path: string, rawBody: Buffer, type = "text/csv") =>
      test.backOffice.request("POST", path, { rawBody, headers: { "content-type": type } });
    const set = await send(stock, windows("sku;onHand\nM\u00dc-1;5\n"));
    expect(set.body).toMatchObject({
      changed: 1,
      recognised: { encoding: "windows-1252", separator: "semicolon" },
    });
    const file = await workbook([
      ["sku", "name", "onHand"],
      ["M\u00dc-1", "not read", 7],
    ]);
    expect((await send(stock, file, XLSX)).body).toMatchObject({
      ...{ changed: 1, changes: [{ line: 2, onHand: 7 }], recognised: { format: "xlsx" } },
    });
    const tracking = await workbook([
      ["externalOrderId", "trackingNumber"],
      ["PO-1", "T-1"],
    ]);
    expect((await send("/api/shipments/import", tracking, XLSX)).body).toMatchObject({
      ...{ rejected: 1, rejections: [{ line: 2 }], recognised: { format: "xlsx", sheet: "Catalog" } },
    });
  });
});

describe("an import refuses", () => {
  it("two headers of one column, and lists the columns for one that it does not know", async () => {
    await expectRefused("sku,Artikelnummer,name,price\nA,B,a,1\n", [
      { line: 1, column: "sku", rule: "duplicate_column" },
    ]);
    await expectRefused("SKU,Name,Price,Colour\nA,a,1,red\n", [
      { line: 1, column: "Colour", rule: "unknown_column", known: expect.arrayContaining(["sku", "price"]) },
    ]);
  });

  it("a file without a header, also if a later row looks a little like one", async () => {
    await expectRefused("A,a,1\nB,name,2\n", [
      ...["A", "a", "1"].map((column) => ({ line: 1, column, rule: "unknown_column" })),
      ...["sku", "name", "price"].map((column) => ({ line: 1, column, rule: "missing_column" })),
    ]);
    const late = `${"heading\n".repeat(12)}${HEADER}\nA,a,1\n`;
    expect((await importInto(late)).body.errors).toContainEqual(
      expect.objectContaining({ line: 1, column: "heading", rule: "unknown_column" }),
    );
  });

  it.each<[string, Buffer, string]>([
    ["an old workbook, or one with a password", Buffer.from("d0cf11e0a1b11ae1000000", "hex"), "old_workbook"],
    ["a ZIP that is no workbook", Buffer.from("PK\x03\x04 and nothing"), "not_a_workbook"],
    [
      "two encodings in one file",
      Buffer.concat([Buffer.from(`${HEADER}\n\u00c4,a,1\n`), Buffer.from("\xc4,a,1\n", "latin1")]),
      "encoding",
    ],
  ])("%s", async (_, file, fault) => {
    await expectRefused(file, [{ rule: "file", fault }], { skipInvalid: true });
  });

  it("a workbook that is damaged, or has no sheet to read", async () => {
    const whole = await workbook([["sku"], ["A"]]);
    await expectRefused(whole.subarray(0, -40), [{ rule: "file", fault: "not_a_workbook" }]);
    await expectRefused(await workbook([[null]]), [{ rule: "header_row" }]);
  });

  it("a workbook that is small and becomes large, before it is unpacked", async () => {
    await expectRefused(zipOf("xl/workbook.xml", Buffer.alloc(200 * 1_048_576, " ")), [
      { rule: "file", fault: "large_workbook" },
    ]);
    await expectRefused(zipOf("xl/workbook.xml", Buffer.alloc(1_048_576, " "), 0), [
      { rule: "file", fault: "large_workbook" },
    ]);
  });

  it("a workbook of more than 16 MiB", async () => {
    const file = Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(16 * 1_048_576)]);
    await expectRefused(file, [{ rule: "file", fault: "large_workbook" }]);
  });
});

/** A ZIP with one part. @param size that it declares */
function zipOf(name: string, content: Buffer, size = content.length): Buffer {
  const packed = deflateRawSync(content);
  const local = Buffer.alloc(30);
  local.write("PK\x03\x04", "latin1");
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(packed.length, 18);
  local.writeUInt32LE(size, 22);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.write("PK\x01\x02", "latin1");
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt32LE(size, 24);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length + name.length, 12);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  return Buffer.concat([local, Buffer.from(name), packed, entry, Buffer.from(name), end]);
}

describe("an identifier that a spreadsheet has damaged", () => {
  it("is reported beside any other error of its row", async () => {
    const id = "0198c5a4-0000-7000-8000-000000000000";
    await expectRefused(`${HEADER},id\n10-Dec,,1,\nM??,b,x,\n12.Okt,c,1,${id}\nGOOD,,1,\n`, [
      { line: 2, column: "name", rule: "required" },
      { line: 2, column: "sku", rule: "damaged", damage: "date" },
      { line: 3, column: "price", rule: "format" },
      { line: 3, column: "sku", rule: "damaged", damage: "letters" },
      { line: 4, column: "id", rule: "not_found" },
      { line: 4, column: "sku", rule: "damaged", damage: "date" },
      { line: 5, column: "name", rule: "required" },
    ]);
  });

  it("that may be meant so is imported with a warning", async () => {
    const { body } = await importInto(`${HEADER}\n01-03-26,a,1\n12.0,b,1\n12-10,c,1\n`);
    expect(body).toMatchObject({
      created: 3,
      warnings: [
        { line: 2, column: "sku", rule: "damaged", damage: "date", subject: "01-03-26, a" },
        { line: 3, column: "sku", rule: "damaged", damage: "decimals" },
      ],
    });
    expect(body.warnings).toHaveLength(2);
  });

  it('is not the text of ="…", with or without quotes around it', async () => {
    const file = `${HEADER}\n="00123",a,1\n"=""00124""",b,1\n"q,=""x"",",c,1\n="00125",="d",1`;
    await importInto(file);
    expect((await products()).map(({ sku, name }) => [sku, name])).toEqual([
      ["00123", "a"],
      ["00124", "b"],
      ['q,="x",', "c"],
      ["00125", "d"],
    ]);
    for (const row of ['A"="1",e,1', 'A="1",e,1', '="1"2,e,1'])
      await expectRefused(`${HEADER}\n${row}\n`, [{ line: 2, rule: "file", fault: "stray_quote" }]);
  });

  it.each([
    ["#####", "error_value"],
    ["12.Okt", "date"],
    ["123.0", "decimals"],
    ["123456789012345000", "rounded"],
    ["M\ufffd1", "letters"],
    ["10-Dec", "date"],
    ["4.00638E+12", "exponent"],
    ["=A1&B1", "formula"],
    ["#REF!", "error_value"],
    ["A\u200b1", "invisible"],
  ])("%j is an error of its line, unless it is meant so", async (sku, damage) => {
    const file = `${HEADER}\nGOOD,a,1\n${sku},b,1\n`;
    await expectRefused(file, [{ line: 3, column: "sku", rule: "damaged", damage, subject: `${sku}, b` }]);
    expect((await importInto(file, { asWritten: true })).body).toMatchObject({ created: 2 });
    expect((await products()).map((product) => product.sku)).toEqual(["GOOD", sku]);
  });

  it("is none if it is stored so", async () => {
    const date = await create("10-Dec", { barcode: "1E+05" });
    const file = `id,${HEADER},barcode\n${date},10-Dec,New name,1,1E+05\n`;
    expect((await importInto(file)).body).toMatchObject({ changed: 1 });
    expect((await importInto(`${HEADER}\n10-Dec,New name,1\n`, { match: "sku" })).body).toMatchObject({
      unchanged: 1,
    });
  });

  it("is found where it would rename a product, or take its barcode", async () => {
    const [padded, long] = [await create("00123"), await create("12-10", { barcode: "4006381333931" })];
    const file = `id,${HEADER},barcode\n${padded},123,00123,1,\n${long},10-Dec,12-10,1,4.00638E+12\n`;
    await expectRefused(file, [
      { line: 2, column: "sku", rule: "damaged", damage: "zeros", meant: "00123" },
      { line: 3, column: "sku", rule: "damaged", damage: "date" },
      { line: 3, column: "barcode", rule: "damaged", damage: "exponent" },
    ]);
  });

  it("is found where it would create a second product", async () => {
    await create("00123", { barcode: "00036000291452" });
    await expectRefused(`${HEADER},barcode\n123,a,1,\nB,b,1,36000291452\nC,c,1,12345670011\n`, [
      { line: 2, column: "sku", rule: "damaged", damage: "zeros", meant: "00123" },
      { line: 3, column: "barcode", rule: "barcode_taken", sku: "00123" },
    ]);
    await expectRefused(`${HEADER},barcode\nC,c,1,42100005264\n`, [
      { line: 2, column: "barcode", rule: "damaged", damage: "zeros" },
    ]);
  });

  it("is a number of a workbook whose last digits are lost, or a date", async () => {
    const rows = [
      ["sku", "name", "price", "barcode"],
      [new Date("2026-12-10T00:00:00Z"), "a", 1, null],
      ["B", "b", 1, Number("12345678901234567890")],
    ];
    await expectRefused(await workbook(rows), [
      { line: 2, column: "sku", rule: "damaged", damage: "date" },
      { line: 3, column: "barcode", rule: "damaged", damage: "exponent" },
    ]);
  });

  it("keeps its text in a formula that does nothing else", async () => {
    expect((await importInto(`${HEADER}\n"=""00123""",a,1\n`)).status).toBe(200);
    expect(await products()).toMatchObject([{ sku: "00123" }]);
  });

  it("is found in files of stock and tracking", async () => {
    await create("00123");
    const facility = await createFacility(test);
    const send = async (path: string, rawBody: string) =>
      (await test.backOffice.request("POST", path, { rawBody, headers: { "content-type": "text/csv" } })).body
        .errors;
    const stock = `/api/facilities/${facility}/stock/import?merchantId=${merchantId}`;
    expect(await send(stock, "sku,onHand\n123,1\n10-Dec,1\nX,1\n")).toMatchObject([
      { line: 2, column: "sku", rule: "damaged", damage: "zeros", meant: "00123" },
      { line: 3, column: "sku", rule: "damaged", damage: "date" },
      { line: 4, column: "sku", rule: "not_found" },
    ]);
    expect(
      await send("/api/shipments/import", "externalOrderId,trackingNumber\nPO-1,1.2345E+19\n1-Mar,T-1\n"),
    ).toMatchObject([
      { line: 2, column: "trackingNumber", rule: "damaged", damage: "exponent", subject: "PO-1" },
      { line: 3, column: "externalOrderId", rule: "damaged", damage: "date" },
    ]);
  });

  it("warns of a check digit, and imports the row", async () => {
    const { body } = await importInto(`${HEADER},barcode\nA,a,1,4006381333932\nB,b,1,4006381333931\n`);
    expect(body).toMatchObject({
      created: 2,
      warnings: [{ line: 2, column: "barcode", rule: "check_digit", subject: "A, a" }],
    });
  });
});

describe("a new SKU that differs from another one in upper and lower case only", () => {
  const spelled = (line: number, meant?: string) => ({
    ...{ line, column: "sku", rule: "sku_case", ...(meant && { meant }) },
  });

  it("is imported with a warning, if the other one is stored or in an earlier row", async () => {
    await create("abc-1");
    const rows = ["ABC-1,a,1", "abc-1,b,1", "Größe,c,1", "GRÖSSE,d,1", "größe,e,1", "DEF,f,1"];
    const { body } = await importInto([HEADER, ...rows].join("\n"), { match: "sku" });
    expect(body).toMatchObject({ created: 5, changed: 1, warnings: [spelled(2, "abc-1"), spelled(6)] });
    const again = await importInto([HEADER, ...rows].join("\n"), { match: "sku" });
    expect(again.body).toMatchObject({ created: 0, unchanged: 6, warnings: [] });
  });

  it("is another one than the same SKU twice, where that is no error", async () => {
    const { body } = await importInto(`${HEADER}\nA,a,1\nA,b,1\na,c,1\n`, { match: "none" });
    expect(body).toMatchObject({ created: 3, warnings: [spelled(4)] });
  });
});

describe("skipInvalid", () => {
  it("imports the valid rows, and lists the others", async () => {
    await create("A");
    await create("Z", { barcode: "9" });
    const file = `${HEADER},barcode\nA,a,1,1\nB,b,x,\n,c,1,\nD,d,1,9\nE,e,1,2\nE,f,1,3\n`;
    for (const dryRun of [true, false]) {
      const { status, body } = await importInto(file, { match: "sku", skipInvalid: true, dryRun });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body).toMatchObject({ created: 1, changed: 1, rejected: 4 });
      expect(body.rejections).toMatchObject([
        { line: 3, column: "price", rule: "format", subject: "B, b" },
        { line: 4, column: "sku", rule: "required", subject: "c" },
        { line: 5, column: "barcode", rule: "barcode_taken", sku: "Z", name: "Z", subject: "D, d" },
        { line: 7, column: "sku", rule: "earlier_row", subject: "E, f" },
      ]);
    }
    expect((await products()).map(({ sku }) => sku)).toEqual(["A", "Z", "E"]);
  });

  it("imports nothing of a file without its columns, or that ends within a row", async () => {
    await expectRefused("sku,name\nA,a\n", [{ rule: "missing_column" }], { skipInvalid: true });
    await expectRefused(`${HEADER}\nA,a,1\nB,"b,1\n`, [{ line: 3, rule: "file", fault: "open_quote" }], {
      skipInvalid: true,
    });
  });

  it("sets the stock of the valid rows", async () => {
    await create("A");
    const facility = await createFacility(test);
    const path = `/api/facilities/${facility}/stock/import?merchantId=${merchantId}&skipInvalid=true`;
    const rawBody = "sku,onHand\nA,5\nB,6\nA,x\n";
    const headers = { "content-type": "text/csv" };
    expect((await test.backOffice.request("POST", path, { rawBody, headers })).body).toMatchObject({
      ...{ changed: 1, rejected: 2 },
      rejections: [
        { line: 3, rule: "not_found", subject: "B" },
        { line: 4, rule: "format", format: "whole-number", subject: "A" },
      ],
    });
  });
});
