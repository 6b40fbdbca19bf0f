import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { sentenceOf } from "../../src/platform/wire/rules.ts";
import { countRows, createProduct } from "../support/builders.ts";
import { countsOf, importCsv } from "../support/imports.ts";
import { expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let merchantId: string;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());
beforeEach(async () => {
  merchantId = await aMerchant();
});

async function aMerchant(currency = "EUR"): Promise<string> {
  const body = { name: "Merchant", accountEmail: "m@example.com", currency };
  return (await test.backOffice.post("/api/merchants", body)).body.id;
}

const importInto = (
  merchant: string,
  csv: string | Buffer,
  { client = test.backOffice, type = "text/csv" }: { client?: Client; type?: string } = {},
): Promise<Answer> => importCsv(client, merchant, csv, { type });

async function listProducts(merchant = merchantId): Promise<Answer["body"][]> {
  const products: Answer["body"][] = [];
  for (let cursor = ""; ; ) {
    const { body } = await test.backOffice.get(`/api/merchants/${merchant}/products?limit=100${cursor}`);
    products.push(...body.data);
    if (body.nextCursor === null) return products;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

/** Rejected with errors at exactly these positions, each with its rule, and nothing was stored. */
async function expectRejected(csv: string | Buffer, errors: object[], merchant = merchantId): Promise<void> {
  const before = await dumpTables(test);
  const answer = await importInto(merchant, csv);
  expectProblem(answer, 422, "validation-failed", { errors: expect.any(Array), errorCount: errors.length });
  expect(answer.body.errors).toMatchObject(errors);
  for (const error of answer.body.errors) expect(error.detail).toBe(sentenceOf(error));
  expect(await dumpTables(test)).toEqual(before);
}
const words = expect.stringMatching(/./);
const HEADER = "sku,name,price";

describe("POST /api/merchants/{id}/products/import reads what spreadsheets write", () => {
  it.each([
    ["semicolons and decimal commas", "sku;name;price\nMUG;Mug, blue;7,90\n"],
    ["semicolons in quotes", '"sku";"name";"price"\r\n"MUG";"Mug, blue";"7,90"\r\n'],
    ["tabs", "sku\tname\tprice\nMUG\tMug, blue\t7,90\n"],
    ["semicolons and decimal points", "sku;name;price\nMUG;Mug, blue;7.90\n"],
  ])("%s", async (_name, csv) => {
    expect((await importInto(merchantId, csv)).status).toBe(200);
    expect(await listProducts()).toMatchObject([
      { sku: "MUG", name: "Mug, blue", price: { amount: "7.90", currency: "EUR" } },
    ]);
  });

  it("and no amount that has two meanings", async () => {
    const at = { line: 2, column: "price" };
    await expectRejected(`${HEADER}\nMUG,Mug,"7,900"\n`, [{ ...at, rule: "two_meanings" }]);
    await expectRejected("sku;name;price\nMUG;Mug;1.0000,90\n", [
      { ...at, rule: "format", format: "amount" },
    ]);
  });
});

describe("POST /api/merchants/{id}/products/import rejects", () => {
  it("a file without a first row", async () => {
    for (const csv of ["", "\n\n", "\uFEFF"]) await expectRejected(csv, [{ line: 1, detail: words }]);
  });

  it("unknown columns, so that a typing error loses no data", async () => {
    await expectRejected(`${HEADER},weightGram\na,b,1,2\n`, [
      { line: 1, column: "weightGram", detail: expect.stringContaining("weightGrams") },
    ]);
  });

  it("a header with missing or duplicate columns, and reports all of them", async () => {
    await expectRejected("name,name,status\n", [
      { line: 1, column: "name", detail: "is a duplicate column" },
      { line: 1, column: "sku", detail: expect.stringMatching(/required/) },
      { line: 1, column: "price", detail: expect.stringMatching(/required/) },
    ]);
  });

  it("invalid rows, each with its line, its column and a message, and imports none of the valid ones", async () => {
    const csv = [
      `${HEADER},weightGrams,imageUrl,status,id`,
      'good,"first\nand second line",1.00,,,,',
      ",,,,,,1",
      "a,b,1.0010,-1,,,",
      "a,b,1e3,heavy,javascript:alert(1),gone,7",
      `${"x".repeat(256)},b,99999999999999,2000000001,,,`,
      "a,b,1,,,,,9",
      "",
      "also good,too,1.00,,,,",
      "bad,the id is of no product,1.00,,,,01a00000-0000-7000-8000-000000000000",
    ].join("\r\n");
    const inEuros = "must be an amount in EUR with at most 2 decimals, of at most 1000000000.00";
    const at = (line: number, column: string) => ({ line, column, detail: words });
    await expectRejected(csv, [
      ...["sku", "name", "price"].map((column) => ({ ...at(4, column), detail: "is required" })),
      at(4, "id"),
      at(5, "weightGrams"),
      { ...at(5, "price"), detail: inEuros },
      ...["price", "imageUrl", "weightGrams", "status", "id"].map((column) => at(6, column)),
      ...["sku", "weightGrams"].map((column) => at(7, column)),
      { ...at(7, "price"), detail: inEuros },
      { line: 8, rule: "cell_count", count: 8, expected: 7, detail: "has 8 cells, but the first row has 7" },
      { line: 11, column: "id", detail: "is not a product of the merchant" },
    ]);
  });

  it("a NUL character, which no text of a product may have", async () => {
    await expectRejected(`${HEADER}\na\u0000,b,1`, [{ line: 2, column: "sku", detail: words }]);
  });

  it("another merchant's product, with the same text as one that does not exist", async () => {
    const foreign = await createProduct(test, await aMerchant());
    const missing = "01a00000-0000-7000-8000-000000000000";
    const error = (line: number) => ({
      line,
      column: "id",
      rule: "not_found",
      kind: "merchant_product",
      detail: "is not a product of the merchant",
    });
    await expectRejected(`${HEADER},id\na,b,1,${foreign}\nc,d,1,${missing}`, [error(2), error(3)]);
  });

  it("a duplicate id, in upper or lower case", async () => {
    const id = await createProduct(test, merchantId);
    const csv = `${HEADER},id\na,b,1,${id}\nc,d,2,${id.toUpperCase()}`;
    await expectRejected(csv, [{ line: 3, column: "id", detail: words }]);
  });

  it.each([
    ["a quote that is never closed", `${HEADER}\na,b,1\nc,"d,1\ne,f,1`, 3],
    ["a quote that is never closed, in a large file", `${HEADER}\nc,"d,1\n${"e,f,1\n".repeat(100_000)}`, 2],
    ["a quote inside a cell without quotes", `${HEADER}\na,5" nail,1\n`, 2],
    ["text behind a closing quote", `${HEADER}\na,"b\r\nb",1\r\na,"b"x,1\n`, 4],
  ])("%s, and reports that it read no further", async (_title, csv, line) => {
    await expectRejected(csv, [{ line, detail: expect.stringMatching(/not read$/) }]);
  });

  it("more errors than it lists, with their number", async () => {
    const answer = await importInto(merchantId, `${HEADER}\n${"a,,x\n".repeat(1_500)}`);
    expect(answer.status).toBe(422);
    expect(answer.body.errorCount).toBe(3_000);
    expect(answer.body.errors).toHaveLength(1_000);
    expect(answer.body.errors[999]).toMatchObject({ line: 501 });
  });

  it.each(["application/json", "text/plain", "text/csvx", ""])("the media type %j", async (type) => {
    const answer = await importInto(merchantId, HEADER, { type });
    expectProblem(answer, 415, "unsupported-media-type");
    expect(answer.body.detail).toMatch(/^Content-Type must be text\/csv or application\/vnd/);
  });

  it("warehouse staff, and shows no merchant the products of another", async () => {
    const warehouse = test.backOfficeFor({ kind: "warehouse", name: "Willem" });
    expectProblem(await importInto(merchantId, HEADER, { client: warehouse }), 403, "forbidden");
    const person = test.backOfficeFor({
      kind: "merchant",
      name: "Mia",
      merchantIds: [fromTypeId("mer", await aMerchant()) ?? ""],
    });
    for (const merchant of [merchantId, "mer_01m7y7np16fe68bxp4h91tdmdn", "x"]) {
      expectProblem(await importInto(merchant, `${HEADER}\na,b,1`, { client: person }), 404, "not-found");
    }
    expect(await listProducts()).toEqual([]);
  });
});

describe("POST /api/merchants/{id}/products/import", () => {
  it("creates products by the rules of single ones, in the order of the file", async () => {
    const csv = `${HEADER},weightGrams,description,imageUrl,status\nA,First,1.5,20,Words,https://x.example/a.png,discontinued\nB,Second,0,,,,\n`;
    const answer = await importInto(merchantId, csv, { type: "Text/CSV; charset=utf-8" });
    expect(countsOf(answer)).toEqual({ created: 2, changed: 0, unchanged: 0 });
    const [first, second, ...others] = await listProducts();
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      sku: "A",
      name: "First",
      weightGrams: 20,
      description: "Words",
      status: "discontinued",
      imageUrl: "https://x.example/a.png",
      price: { amount: "1.50", currency: "EUR" },
      merchantId,
    });
    const now = test.clock.now().toISOString();
    expect(second).toMatchObject({
      sku: "B",
      weightGrams: null,
      description: null,
      imageUrl: null,
      status: "active",
      price: { amount: "0.00", currency: "EUR" },
      createdAt: now,
      updatedAt: now,
    });
  });

  it("exposes nothing and publishes nothing", async () => {
    const before = [await countRows(test, "events"), await countRows(test, "exposed_products")];
    expect((await importInto(merchantId, `${HEADER}\na,b,1`)).status).toBe(200);
    expect([await countRows(test, "events"), await countRows(test, "exposed_products")]).toEqual(before);
  });

  it.each([
    ["a byte order mark", `\uFEFF${HEADER}\na,b,1\n`],
    ["lines that end as on Windows", `${HEADER}\r\na,b,1\r\n`],
    ["lines that end as on old Macs", `${HEADER}\ra,b,1\r`],
    ["no end of the last line", `${HEADER}\na,b,1`],
    ["empty lines", `\n${HEADER}\n\n\na,b,1\n\n`],
    ["columns in another order, with spaces around their names", ` price , sku,"name"\n1,a,b\n`],
    ["quotes around everything", `"sku","name","price"\n"a","b","1"\n`],
  ])("takes %s", async (_title, csv) => {
    expect(countsOf(await importInto(merchantId, csv))).toEqual({ created: 1, changed: 0, unchanged: 0 });
    expect(await listProducts()).toMatchObject([{ sku: "a", name: "b", price: { amount: "1.00" } }]);
  });

  it("keeps texts exactly as they are", async () => {
    const texts = [
      "=HYPERLINK(1)",
      "+1",
      "@x",
      "'); drop table products; --",
      ' "quoted", and\r\nmore\n',
      "🍵 茶",
      "$1",
      "\\N",
      "null",
    ];
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const csv = `${HEADER}\n${texts.map((text) => `${cell(text)},${cell(text)},1`).join("\n")}`;
    expect(
      (await importCsv(test.backOffice, merchantId, csv, { match: "none", asWritten: true })).status,
    ).toBe(200);
    const stored = await listProducts();
    expect(stored.map(({ sku }) => sku)).toEqual(texts);
    expect(stored.map(({ name }) => name)).toEqual(texts);
  });

  it("reads prices in the merchant's currency", async () => {
    const [yen, dinar] = [await aMerchant("JPY"), await aMerchant("BHD")];
    await expectRejected(`${HEADER}\na,b,1.5`, [{ line: 2, column: "price", detail: words }], yen);
    expect((await importInto(dinar, `${HEADER}\na,b,1.505`)).status).toBe(200);
    expect(await listProducts(dinar)).toMatchObject([{ price: { amount: "1.505", currency: "BHD" } }]);
  });

  it("changes what the file has a column for, and leaves the rest", async () => {
    const details = { description: "Old", weightGrams: 5, imageUrl: "https://x.example/old.png" };
    const id = await createProduct(test, merchantId, details);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    const [before] = await listProducts();
    test.clock.advance({ hours: 1 });
    const csv = `id,sku,name,price,description\n${id.toUpperCase()},NEW,New,2,\n,A,Added,3,Words`;
    expect(countsOf(await importInto(merchantId, csv))).toEqual({ created: 1, changed: 1, unchanged: 0 });
    const [changed, added] = await listProducts();
    expect(changed).toEqual({
      ...before,
      sku: "NEW",
      name: "New",
      price: { amount: "2.00", currency: "EUR" },
      description: null,
      updatedAt: test.clock.now().toISOString(),
    });
    expect(added).toMatchObject({ sku: "A", description: "Words" });
  });

  it("leaves the status of a product where the cell is empty", async () => {
    const id = await createProduct(test, merchantId);
    const other = await createProduct(test, merchantId);
    const csv = `${HEADER},status,id\na,b,1,,${id}\na,b,1,discontinued,${other}`;
    expect(countsOf(await importInto(merchantId, csv))).toEqual({ created: 0, changed: 2, unchanged: 0 });
    expect((await listProducts()).map(({ status }) => status)).toEqual(["active", "discontinued"]);
  });

  it("imports nothing from a header alone", async () => {
    expect(countsOf(await importInto(merchantId, HEADER))).toEqual({ created: 0, changed: 0, unchanged: 0 });
  });

  it("imports many rows in order; after an error in the last one, nothing is stored", async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `SKU-${n},"Product ${n}, quoted",${n % 100}.50\n`);
    const csv = `${HEADER}\n${rows.join("")}`;
    const before = await countRows(test, "products");
    expect((await importInto(merchantId, `${csv}x,y,z`)).body.errors).toMatchObject([{ line: 20_002 }]);
    expect(await countRows(test, "products")).toBe(before);
    expect(countsOf(await importInto(merchantId, csv))).toEqual({
      created: 20_000,
      changed: 0,
      unchanged: 0,
    });
    const { body } = await test.backOffice.get(`/api/merchants/${merchantId}/products?limit=100`);
    expect(body.data.map(({ sku }: { sku: string }) => sku)).toEqual(
      Array.from({ length: 100 }, (_, n) => `SKU-${n}`),
    );
    expect(await countRows(test, "products")).toBe(before + 20_000);
  });

  it("runs one of two concurrent imports of the same products, and rejects the other", async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `SKU-${n},b,1\n`);
    expect((await importInto(merchantId, `${HEADER}\n${rows.join("")}`)).status).toBe(200);
    const ids = (await listProducts()).map(({ id }) => id);
    const file = (name: string, order: string[]) =>
      `${HEADER},id\n${order.map((id) => `${name},${name},1,${id}`).join("\n")}`;
    const answers = await Promise.all([
      importInto(merchantId, file("one", ids)),
      importInto(merchantId, file("two", ids.toReversed())),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const names = new Set((await listProducts()).map(({ name }) => name));
    expect(names.size).toBe(1);
  });
});
