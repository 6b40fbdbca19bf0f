import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Merchant, readMerchant } from "../../src/merchants/merchants-sql.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { importProducts } from "../../src/products/import/import-products.ts";
import { tryToLockImports } from "../../src/products/import/import-sql.ts";
import { betweenTransactions } from "../support/between-transactions.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createProduct } from "../support/builders.ts";
import { importCsv } from "../support/imports.ts";
import { expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

const HEADER = "sku,name,price";
const importInto = (merchantId: string, csv: string, match?: string) =>
  importCsv(test.backOffice, merchantId, csv, match === undefined ? {} : { match });
const exported = async (merchantId: string, format = "csv"): Promise<string> =>
  (await test.backOffice.get(`/api/merchants/${merchantId}/products/export?format=${format}`)).body;
const aMerchant = async (): Promise<string> =>
  (await test.backOffice.post("/api/merchants", { name: "M", accountEmail: "m@example.com" })).body.id;

const BY = { actor: { kind: "operator", name: null }, requestId: null, action: "importProducts" } as const;

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function merchantOf(id: string): Promise<Merchant> {
  const merchant = await readMerchant(test.db, fromTypeId("mer", id) ?? "");
  if (merchant === null) throw new Error("There is no such merchant.");
  return merchant;
}

describe("an import of a file that was imported before", () => {
  it("is rejected by default, and changes nothing", async () => {
    const merchant = await aMerchant();
    const csv = `${HEADER}\nA,First,1\nB,Second,2\n`;
    const { body } = await importInto(merchant, csv);
    expect(body.products).toMatchObject([
      { line: 2, sku: "A", change: "created" },
      { line: 3, sku: "B", change: "created" },
    ]);
    const before = await dumpTables(test);
    const again = await importInto(merchant, csv);
    expect(again.status).toBe(422);
    expect(again.body.errors).toMatchObject([
      { line: 2, column: "sku", productId: body.products[0].id, name: "First" },
      { line: 3, column: "sku" },
    ]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("changes the products by their SKU with match=sku, and creates the rest", async () => {
    const merchant = await aMerchant();
    const first = (await importInto(merchant, `${HEADER}\nA,First,1\n`)).body;
    const { body } = await importInto(merchant, `${HEADER}\nB,New,2\nA,Changed,3\n`, "sku");
    expect(body).toMatchObject({ created: 1, changed: 1 });
    expect(body.products[1]).toEqual({
      line: 3,
      id: first.products[0].id,
      sku: "A",
      name: "Changed",
      price: { amount: "3.00", currency: "EUR" },
      change: "changed",
      columns: ["name", "price"],
      before: { name: "First", price: "1.00" },
    });
    expect(await exported(merchant)).toContain("A,Changed,3.00");
    const again = (await importInto(merchant, `${HEADER}\nB,New,2\nA,Other,3\n`, "sku")).body;
    expect(again).toMatchObject({ created: 0, changed: 1, unchanged: 1 });
    expect(again.products.map(({ change }: { change: string }) => change)).toEqual(["unchanged", "changed"]);
  });

  it("rejects a SKU with a space before or behind it, which would be another product, unless the row has an id", async () => {
    const merchant = await aMerchant();
    const csv = `${HEADER}\nA-1,b,1\nA-1 ,b,1\n A-1,b,1\n"A-1\u00a0",b,1\nA 1,b,1`;
    const padded = (line: number) => ({
      line,
      column: "sku",
      rule: "sku_padded",
      detail: "must not begin or end with a space, unless the row has the id of its product",
    });
    for (const match of ["id", "sku"])
      expect((await importInto(merchant, csv, match)).body.errors).toMatchObject([
        padded(3),
        padded(4),
        padded(5),
      ]);
    const id = await createProduct(test, merchant, { sku: "A-1 " });
    const withId = await importInto(merchant, `${HEADER},id\nA-1 ,Renamed,1,${id}`);
    expect([withId.status, withId.body.changed]).toEqual([200, 1]);
  });

  it("creates duplicates with match=none alone; they are then errors of match=sku", async () => {
    const merchant = await aMerchant();
    const csv = `${HEADER}\nA,First,1\nA,Second,1\n`;
    expect((await importInto(merchant, csv)).body.errors).toMatchObject([{ line: 3, column: "sku" }]);
    expect((await importInto(merchant, csv, "none")).body).toMatchObject({ created: 2 });
    const { body } = await importInto(merchant, `${HEADER}\nA,Third,1\n`, "sku");
    expect(body.errors).toMatchObject([
      { line: 2, column: "sku", detail: expect.stringContaining("2 products") },
    ]);
    expect((await importInto(merchant, csv, "all")).status).toBe(422);
  });

  it("does not change a product by its id and by its SKU in one file", async () => {
    const merchant = await aMerchant();
    const id = await createProduct(test, merchant, { sku: "A" });
    for (const [rows, line] of [
      [`${id},B,First,1\n,A,Second,1\n`, 3],
      [`,A,Second,1\n${id},B,First,1\n`, 2],
    ]) {
      const { body } = await importInto(merchant, `id,${HEADER}\n${rows}`, "sku");
      expect(body.errors).toMatchObject([{ line, column: "sku" }]);
    }
  });

  it("does not give the SKU of a row to the product of another row", async () => {
    const merchant = await aMerchant();
    const id = await createProduct(test, merchant, { sku: "A" });
    for (const rows of [`${id},B,First,1\n,B,Second,1\n`, `,B,Second,1\n${id},B,First,1\n`])
      for (const match of ["id", "sku"]) {
        const { body } = await importInto(merchant, `id,${HEADER}\n${rows}`, match);
        expect(body.errors).toMatchObject([{ line: 3, column: "sku" }]);
      }
  });

  it("writes only products that differ from their rows", async () => {
    const merchant = await aMerchant();
    const ids = [await createProduct(test, merchant), await createProduct(test, merchant)];
    const csv = await exported(merchant);
    const before = (await test.backOffice.get(`/api/products/${ids[0]}`)).body;
    test.clock.advance({ minutes: 1 });
    const changes = csv.replace(/(.*),[^,]*,active,,\r\n$/, "$1,https://x.example/a.png,active,,\r\n");
    expect((await importInto(merchant, changes)).body).toMatchObject({
      created: 0,
      changed: 1,
      unchanged: 1,
    });
    expect((await test.backOffice.get(`/api/products/${ids[0]}`)).body).toEqual(before);
    const { updatedAt } = (await test.backOffice.get(`/api/products/${ids[1]}`)).body;
    expect(updatedAt).toBe(test.clock.now().toISOString());
  });

  it("is rejected if its products were created between its check and its storing", async () => {
    const merchant = await aMerchant();
    const before = await dumpTables(test);
    let created: unknown;
    const bytes = bytesOf(`${HEADER}\nB,Bowl,1\nA,Apron,1\n`);
    const file = { bytes, match: "id", dryRun: false, asWritten: false, skipInvalid: false } as const;
    const imported = importProducts(
      {
        ...test.context,
        // Another process does so.
        storing: betweenTransactions(test.context, async () => {
          await createProduct(test, merchant, { sku: "A" });
          created = await dumpTables(test);
        }).db,
      },
      await merchantOf(merchant),
      file,
      BY,
    );
    const errors = [{ line: 3, column: "sku", rule: "given_away" }];
    await expect(imported).rejects.toMatchObject({ problem: { members: { errors } } });
    expect(created).not.toEqual(before);
    expect(await dumpTables(test)).toEqual(created);
  });
});

describe("an import with its progress", () => {
  const follow = (merchant: string, csv: string, options: { match?: string; dryRun?: boolean } = {}) =>
    importCsv(test.backOffice, merchant, csv, { ...options, progress: true });
  const linesOf = ({ body }: Answer) =>
    String(body)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => `SKU-${at},Name,1\n`).join("");

  it("says after each batch how many rows are stored, and ends with the result", async () => {
    const merchant = await aMerchant();
    const answer = await follow(merchant, `${HEADER}\n${rowsOf(2_001)}`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    const lines = linesOf(answer);
    const total = 2_001;
    expect(lines.slice(0, -1)).toEqual([0, 1_000, 2_000, 2_001].map((stored) => ({ stored, total })));
    expect(lines.at(-1).result).toMatchObject({ created: 2_001, changed: 0, unchanged: 0 });
    expect((await exported(merchant)).trimEnd().split("\r\n")).toHaveLength(2_002);
  });

  it("has the usual response if nothing is stored: for errors, a dry run, and a file that changes nothing", async () => {
    const merchant = await aMerchant();
    const csv = `${HEADER}\n${rowsOf(2)}`;
    const wrong = await follow(merchant, `${HEADER}\nSKU,,1\n`);
    expect([wrong.status, wrong.body.code]).toEqual([422, "validation-failed"]);
    expect((await follow(merchant, csv, { dryRun: true })).body.created).toBe(2);
    await importInto(merchant, csv);
    const again = await follow(merchant, csv, { match: "sku" });
    expect([again.status, again.body.unchanged]).toEqual([200, 2]);
  });

  it("ends with the problem that stopped it, and has then stored nothing", async () => {
    const merchant = await aMerchant();
    const answer = await test.db.transaction(async (tx) => {
      await tryToLockImports(tx, fromTypeId("mer", merchant) ?? "");
      return follow(merchant, `${HEADER}\n${rowsOf(3)}`);
    });
    expectProblem(answer, 409, "limit-reached", { limit: "runningImports", maximum: 1 });
    // Another transaction gives the SKU away after the first lines are sent: the last one says it.
    const blocked = await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-take-sku",
        text: `
          insert into products (id, merchant_id, sku, name, price_minor, currency, status, created_at, updated_at, barcode)
          values (gen_random_uuid(), $1, 'TAKEN', 'N', 100, 'EUR', 'active', $2, $2, '4006381333931')`,
        values: [fromTypeId("mer", merchant), test.clock.now()],
      });
      const started = follow(merchant, `${HEADER},barcode\nNEW,Name,1,4006381333931\n`);
      await untilBlocked(test, 1);
      return { started };
    });
    const lines = linesOf(await blocked.started);
    expect(lines[0]).toEqual({ stored: 0, total: 1 });
    expect(lines.at(-1).problem).toMatchObject({
      ...{ code: "validation-failed", status: 422 },
      instance: `/api/merchants/${merchant}/products/import`,
    });
    expect((await exported(merchant)).trimEnd().split("\r\n")).toHaveLength(2);
  });
});

describe("GET /api/merchants/{id}/products/export", () => {
  it.each(["spreadsheet", "csv"])(
    "writes what an import of the same file leaves as it is: %s",
    async (format) => {
      const merchant = await aMerchant();
      const texts = ["=1+1", "'=1+1", "x;-1", "\t@", "'\r", ' "quoted", and\r\nmore', "🍵 茶", "'", "a;b\tc"];
      for (const name of texts)
        await createProduct(test, merchant, { name, sku: name, description: name, weightGrams: 7 });
      await createProduct(test, merchant, { sku: "plain", description: "" });
      const csv = await exported(merchant, format);
      expect(csv).toMatch(
        /^\uFEFF?id,sku,name,price,weightGrams,description,imageUrl,status,barcode,lowStockBelow\r\n/,
      );
      expect((await importInto(merchant, csv)).body).toMatchObject({ created: 0, changed: 0, unchanged: 10 });
      expect(await exported(merchant, format)).toBe(csv);
      if (format === "spreadsheet") expect(csv).not.toMatch(/(^|[,;"\r\n\t])\s*[=+@-]/);
      // The same texts for products that do not exist yet.
      const copy = await aMerchant();
      const rows = csv.replace(/^(id|[0-9a-f-]{36})(?=,)/gm, (id) => (id === "id" ? id : ""));
      const imported = await importCsv(test.backOffice, copy, rows, { match: "none", asWritten: true });
      expect(imported.body).toMatchObject({ created: 10 });
      const names = async (of: string) =>
        (await test.backOffice.get(`/api/merchants/${of}/products?limit=100`)).body.data.map(
          ({ name }: { name: string }) => name,
        );
      expect(await names(copy)).toEqual([...texts, "Product"]);
    },
  );

  it("is of one merchant, which must exist", async () => {
    expect((await exported(await aMerchant())).trimEnd().split("\r\n")).toHaveLength(1);
    expect((await test.backOffice.get("/api/merchants/mer_x/products/export")).status).toBe(404);
  });
});
