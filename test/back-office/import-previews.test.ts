import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { created } from "../support/builders.ts";
import { countsOf, importCsv } from "../support/imports.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let merchantId: string;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());
beforeEach(async () => {
  merchantId = await aMerchant();
});

const price = { amount: "1.00", currency: "EUR" };
const aMerchant = async (): Promise<string> =>
  (await created(test.backOffice.post("/api/merchants", { name: "M", accountEmail: "m@example.com" }))).id;
const create = (sku: string, fields: object = {}, merchant = merchantId): Promise<Answer> =>
  test.backOffice.post(`/api/merchants/${merchant}/products`, { sku, name: sku, price, ...fields });
const change = (id: string, body: object): Promise<Answer> =>
  test.backOffice.request("PATCH", `/api/products/${id}`, { body });
const importInto = (csv: string, options: { match?: string; dryRun?: boolean } = {}): Promise<Answer> =>
  importCsv(test.backOffice, merchantId, csv, options);
const auditCount = async (): Promise<number> =>
  (await test.backOffice.get(`/api/audit-entries?merchantId=${merchantId}&limit=100`)).body.data.length;

const taken = (answer: Answer, owner: { id: string; sku: string }): void => {
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([
    { pointer: "/barcode", rule: "barcode_taken", productId: owner.id, sku: owner.sku },
  ]);
};

describe("the barcode of a product", () => {
  it("is null without one, is changed and removed, and partners do not see it", async () => {
    const { body: product } = await create("A");
    expect(product.barcode).toBeNull();
    expect((await change(product.id, { barcode: "4006381333931" })).body.barcode).toBe("4006381333931");
    expect((await test.backOffice.get(`/api/products/${product.id}`)).body.barcode).toBe("4006381333931");
    expect((await change(product.id, { barcode: null })).body.barcode).toBeNull();
  });

  it("belongs to one product of a merchant, and another merchant can use it too", async () => {
    const { body: owner } = await create("A", { barcode: "1" });
    taken(await create("B", { barcode: "1" }), owner);
    const { body: free } = await create("B", { barcode: "2" });
    taken(await change(free.id, { barcode: "1" }), owner);
    expect((await create("A", { barcode: "1" }, await aMerchant())).status).toBe(201);
    expect((await change(free.id, { barcode: "2", name: "Own" })).status).toBe(200);
  });

  it("is the same number with more or fewer zeros, as scanners send it, and another text with letters", async () => {
    const { body: owner } = await create("UPC", { barcode: "012345678905" });
    for (const barcode of ["12345678905", "0012345678905", "00012345678905", "012345678905"])
      taken(await create("Other", { barcode }), owner);
    const { body: other } = await create("Other", { barcode: "A012345678905" });
    taken(await change(other.id, { barcode: "0012345678905" }), owner);
    expect((await create("Case", { barcode: "10012345678902" })).status, "a case of it").toBe(201);
    expect((await create("Letters", { barcode: "0A" })).status).toBe(201);
    expect((await create("Letters", { barcode: "A" })).status).toBe(201);
    expect((await create("Long", { barcode: `0${"1".repeat(14)}` })).status).toBe(201);
    expect((await create("Long", { barcode: "1".repeat(14) })).status).toBe(201);
    expect((await change(owner.id, { barcode: "0012345678905" })).body).toMatchObject({
      barcode: "0012345678905",
    });
    const file = (rows: string) =>
      importInto(`sku,name,price,barcode\n${rows}`, { match: "sku" }).then(({ body }) => body.errors);
    expect(await file("New,New,1,12345678905\n")).toMatchObject([{ rule: "barcode_taken", sku: "UPC" }]);
    expect(await file("N,N,1,77\nM,M,1,0077\n")).toMatchObject([{ line: 3, rule: "earlier_row" }]);
  });

  it("is given to one of twenty products that want it at the same time", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => create(`S${n}`, { barcode: "9".padStart((n % 14) + 1, "0") })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(422)]);
    const ids = await Promise.all(["X", "Y"].map(async (sku) => (await create(sku)).body.id));
    const changes = await Promise.all(ids.map((id) => change(id, { barcode: "10" })));
    expect(changes.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  it.each([["a ", " a", "a\tb", "ä", "x".repeat(101)]])("is not %j", async (...rejected) => {
    for (const barcode of rejected) {
      const { status, body } = await create("A", { barcode });
      expect(status, barcode).toBe(422);
      expect(body.errors).toMatchObject([{ pointer: "/barcode" }]);
    }
    expect((await create("A", { barcode: `(01) ${"x".repeat(95)}` })).status).toBe(201);
  });

  it("is imported and exported, and removed by an empty cell", async () => {
    expect((await importInto("sku,name,price,barcode\nA,A,1,11\nB,B,1,\n")).body).toMatchObject({
      created: 2,
    });
    const csv = (await test.backOffice.get(`/api/merchants/${merchantId}/products/export`)).body;
    expect(csv).toMatch(/,active,11,\r\n/);
    expect((await importInto(csv)).body).toMatchObject({ unchanged: 2 });
    expect(
      (await importInto("sku,name,price,barcode\nA,A,1,\n", { match: "sku" })).body.products,
    ).toMatchObject([{ change: "changed", columns: ["barcode"] }]);
    expect((await importInto("sku,name,price\nB,B,2\n", { match: "sku" })).body.products).toMatchObject([
      { columns: ["price"] },
    ]);
  });

  it("of another product, or of another row, is an error of the line", async () => {
    const { body: owner } = await create("A", { barcode: "1" });
    const header = "sku,name,price,barcode";
    const error = async (rows: string) =>
      (await importInto(`${header}\n${rows}`, { match: "sku" })).body.errors;
    expect(await error("B,B,1,1\n")).toEqual([
      {
        line: 2,
        column: "barcode",
        rule: "barcode_taken",
        productId: owner.id,
        ...{ sku: "A", name: "A", value: "1", subject: "B, B" },
        detail: `is the barcode of the product A, A (${owner.id}), with or without zeros before it`,
      },
    ]);
    expect(await error("B,B,1,7\nC,C,1,7\n")).toMatchObject([{ line: 3, column: "barcode" }]);
    expect(await error("A,A,1,2\nB,B,1,1\n"), "not moved within one file").toMatchObject([{ line: 3 }]);
    expect(await error("B,B,1,ä\n")).toMatchObject([{ line: 2, column: "barcode" }]);
    expect((await importInto(`${header}\nA,A,1,1\n`, { match: "sku" })).status).toBe(200);
  });
});

describe("a dry run of an import", () => {
  const CSV = "sku,name,price,weightGrams\nA,A,1,5\nB,Other,2,\nC,C,1,\n";

  it("says what an import would do, by row and column, and stores nothing", async () => {
    const { body: a } = await create("A", { weightGrams: 5 });
    const { body: b } = await create("B", { weightGrams: 7 });
    const before = await dumpTables(test);
    const { status, body } = await importInto(CSV, { match: "sku", dryRun: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      created: 1,
      changed: 1,
      unchanged: 1,
      products: [
        { line: 2, id: a.id, sku: "A", name: "A", price, change: "unchanged", columns: [], before: {} },
        {
          ...{ line: 3, id: b.id, sku: "B", name: "Other", price: { ...price, amount: "2.00" } },
          ...{ change: "changed", columns: ["name", "price", "weightGrams"] },
          before: { name: "B", price: "1.00", weightGrams: "7" },
        },
        { line: 4, id: null, sku: "C", name: "C", price, change: "created", columns: [], before: {} },
      ],
      ...{ rejected: 0, rejections: [], warnings: [] },
      recognised: {
        format: "csv",
        encoding: "utf-8",
        separator: "comma",
        decimalSeparator: "point",
        sheet: null,
      },
    });
    expect(await dumpTables(test)).toEqual(before);
    const done = await importInto(CSV, { match: "sku" });
    expect(countsOf(done)).toEqual({ created: 1, changed: 1, unchanged: 1 });
    expect(done.body.products.slice(0, 2)).toEqual(body.products.slice(0, 2));
  });

  it("reports the errors that an import would report", async () => {
    await create("A");
    const dry = await importInto("sku,name,price\nA,A,x\nA,A,1\n,B,1\n", { dryRun: true });
    const real = await importInto("sku,name,price\nA,A,x\nA,A,1\n,B,1\n");
    expect(dry.status).toBe(422);
    expect(dry.body.errors).toEqual(real.body.errors);
  });

  it("takes true or false", async () => {
    const path = `/api/merchants/${merchantId}/products/import?dryRun=perhaps`;
    const { status } = await test.backOffice.request("POST", path, {
      rawBody: CSV,
      headers: { "content-type": "text/csv" },
    });
    expect(status).toBe(422);
  });
});

describe("a change of products that changes nothing", () => {
  it("by an import writes nothing, and leaves no entry in the audit log", async () => {
    await importInto("sku,name,price\nA,A,1\nB,B,2\n");
    const [before, entries] = [await dumpTables(test), await auditCount()];
    test.clock.advance({ seconds: 1 });
    expect((await importInto("sku,name,price\nB,B,2.00\nA,A,1.00\n", { match: "sku" })).body).toMatchObject({
      created: 0,
      changed: 0,
      unchanged: 2,
    });
    expect(await dumpTables(test)).toEqual(before);
    expect(await auditCount()).toBe(entries);
  });

  it("by an update writes nothing, and leaves no entry in the audit log", async () => {
    const { body: product } = await create("A", { weightGrams: 5, barcode: "1" });
    const [before, entries] = [await dumpTables(test), await auditCount()];
    test.clock.advance({ seconds: 1 });
    for (const body of [{}, { sku: "A" }, { price, weightGrams: 5, barcode: "1", status: "active" }])
      expect((await change(product.id, body)).body).toEqual(product);
    expect(await dumpTables(test)).toEqual(before);
    expect((await change(product.id, { weightGrams: 6 })).body.updatedAt).not.toBe(product.updatedAt);
    expect(await auditCount()).toBe(entries + 1);
  });
});
