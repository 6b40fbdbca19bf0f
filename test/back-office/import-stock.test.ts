import { beforeEach, describe, expect, it } from "vitest";
import type { Grant } from "../../src/audit/grant.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import { sentenceOf } from "../../src/platform/wire/rules.ts";
import { lockStock } from "../../src/stock/stock-sql.ts";
import { untilBlocked } from "../support/blocked.ts";
import { countRows, createPartner, createProduct, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, readStock, routeAll, setStock } from "../support/facilities.ts";
import { importCsv } from "../support/imports.ts";
import { expectProblem, withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, type Client, startServiceForTest, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let other: Partner;
let facility: string;
/** Their SKUs are MUG, BOWL and SPOON; the mug has a barcode. */
let mug: string;
let bowl: string;
let spoon: string;
beforeEach(async () => {
  test = await startServiceForTest();
  partner = await createPartner(test);
  other = await createPartner(test);
  facility = await createFacility(test);
  mug = await createProduct(test, partner.merchantId, { sku: "MUG", barcode: "4006381333931" });
  bowl = await createProduct(test, partner.merchantId, { sku: "BOWL" });
  spoon = await createProduct(test, partner.merchantId, { sku: "SPOON" });
});

type Options = { dryRun?: boolean; merchantId?: string | null; type?: string; client?: Client; at?: string };
function importStock(
  file: string | Buffer,
  { dryRun, merchantId = partner.merchantId, type = "text/csv", client, at = facility }: Options = {},
): Promise<Answer> {
  const query = new URLSearchParams({ ...(merchantId && { merchantId }), ...(dryRun && { dryRun: "true" }) });
  const path = `/api/facilities/${at}/stock/import?${query}`;
  const options = { rawBody: file, headers: { "content-type": type } };
  return (client ?? test.backOffice).request("POST", path, options);
}
async function imported(file: string | Buffer, options?: Options): Promise<Answer["body"]> {
  const { status, body } = await importStock(file, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
const onHand = async (productId: string) => (await readStock(test, facility, productId)).onHand;
const movements = async () =>
  (await test.backOffice.get(`/api/facilities/${facility}/stock-movements`)).body.data;
const counts = ({ changed, unchanged, rejected }: Answer["body"]) => [changed, unchanged, rejected];

/** Refused with errors at exactly these lines, each with its rule, and nothing was stored. */
async function expectRefused(file: string | Buffer, errors: object[], options?: Options): Promise<void> {
  const before = await dumpTables(test);
  const answer = await importStock(file, options);
  expectProblem(answer, 422, "validation-failed", { errors: expect.any(Array), errorCount: errors.length });
  expect(answer.body.errors).toMatchObject(errors);
  for (const error of answer.body.errors) expect(error.detail).toBe(sentenceOf(error));
  expect(await dumpTables(test)).toEqual(before);
}

describe("POST /api/facilities/{id}/stock/import with onHand", () => {
  it("sets what is on hand, by SKU, barcode or id, and records each movement with the actor", async () => {
    await setStock(test, facility, bowl, 7);
    const client = test.backOfficeFor({ kind: "warehouse", name: "Wilma" });
    const file = "productId,sku,barcode,onHand\n,MUG,,40\n";
    expect(counts(await imported(`${file}${bowl},,,5\n`, { client }))).toEqual([2, 0, 0]);
    expect([await onHand(mug), await onHand(bowl)]).toEqual([40, 5]);
    expect(counts(await imported("barcode,onHand\n4006381333931,41\n", { client }))).toEqual([1, 0, 0]);
    expect(await movements()).toMatchObject([
      { productId: mug, kind: "set", difference: 1, onHand: 41, actor: { name: "Wilma" } },
      { difference: -2, onHand: 5 },
      { difference: 40, onHand: 40 },
      { productId: bowl, onHand: 7 },
    ]);
    const { body } = await test.backOffice.get("/api/audit-entries?action=importStock");
    expect(body.data[1].subjectIds.toSorted()).toEqual([mug, bowl].sort());
    expect(body.data[1]).toMatchObject({
      merchantId: partner.merchantId,
      actor: { kind: "warehouse", name: "Wilma" },
      details: { facilityId: facility, changed: "2" },
    });
  });

  it("says what each row changed", async () => {
    await setStock(test, facility, bowl, 7);
    const { changes, rejections } = await imported("sku,onHand\nMUG,40\nBOWL,5\nSPOON,0\n");
    expect(rejections).toEqual([]);
    expect(changes).toEqual([
      { line: 2, productId: mug, code: "MUG", onHandBefore: null, onHand: 40 },
      { line: 3, productId: bowl, code: "BOWL", onHandBefore: 7, onHand: 5 },
      { line: 4, productId: spoon, code: "SPOON", onHandBefore: null, onHand: 0 },
    ]);
  });

  it("changes nothing further when the file is repeated", async () => {
    const file = "sku,onHand\nMUG,40\nSPOON,0\n";
    await imported(file);
    const before = await dumpTables(test);
    expect(counts(await imported(file))).toEqual([0, 2, 0]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("in a dry run says the same, and stores nothing", async () => {
    const before = await dumpTables(test);
    const expected = await imported("sku,onHand\nMUG,40\n", { dryRun: true });
    expect(await dumpTables(test)).toEqual(before);
    expect(await imported("sku,onHand\nMUG,40\n")).toEqual(expected);
  });

  it("leaves out rows with less than is reserved, names each, and stores the others", async () => {
    const [product] = partner.productIds;
    await setStock(test, facility, product, 10);
    await placeOrder(partner, { lines: [{ productId: product, quantity: 4 }] });
    await acceptAll(test);
    await routeAll(test);
    const file = `productId,onHand\n${product},3\n${mug},5\n`;
    for (const dryRun of [true, false]) {
      const body = await imported(file, { dryRun });
      expect(counts(body)).toEqual([1, 0, 1]);
      expect(body.rejections).toEqual([
        {
          ...{ line: 2, column: "onHand", rule: "reserved_quantity", min: 4 },
          detail: "must be at least 4, the quantity reserved for orders",
        },
      ]);
    }
    expect([await onHand(product), await onHand(mug)]).toEqual([10, 5]);
  });

  it("releases orders that wait for the goods", async () => {
    const [product] = partner.productIds;
    await setStock(test, facility, product, 0);
    const { id } = await placeOrder(partner, { lines: [{ productId: product, quantity: 4 }] });
    await acceptAll(test);
    await routeAll(test);
    const holds = async () => (await test.backOffice.get(`/api/orders/${id}`)).body.onHoldReasons;
    expect(await holds()).toEqual(["out_of_stock"]);
    await imported(`productId,onHand\n${product},4\n`);
    await routeAll(test);
    expect(await holds()).toEqual([]);
  });

  it("names the merchant in a column where SKUs of several merchants meet", async () => {
    const theirs = await createProduct(test, other.merchantId, { sku: "MUG" });
    const file = `merchantId,sku,onHand\n${partner.merchantId},MUG,1\n${other.merchantId},MUG,2\n,BOWL,3\n`;
    expect(counts(await imported(file))).toEqual([3, 0, 0]);
    expect([await onHand(mug), await onHand(theirs), await onHand(bowl)]).toEqual([1, 2, 3]);
  });

  it("stores files of many batches", async () => {
    await createMany(1_203);
    expect(counts(await imported(countsOf(1_203)))).toEqual([1_203, 0, 0]);
    expect(counts(await imported(countsOf(1_203).replace("S-7,7", "S-7,8")))).toEqual([1, 1_202, 0]);
    expect(await countRows(test, "facility_stock")).toBe(1_203);
  });

  it("keeps what was stored when it breaks off, and the same file completes it", async () => {
    await createMany(600);
    const alter = (sql: string) => test.db.runScript(`alter table facility_stock ${sql}`);
    await alter("add constraint test_fault check (on_hand <> 599)");
    expect((await importStock(countsOf(600))).status).toBe(500);
    expect(await countRows(test, "facility_stock")).toBe(500);
    expect(await countRows(test, "stocked_products")).toBe(500);
    await alter("drop constraint test_fault");
    expect(counts(await imported(countsOf(600)))).toEqual([100, 500, 0]);
  });
});

/** Products with the SKUs S-0, S-1 and so on. */
async function createMany(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => `S-${index},Product,1.00`);
  const file = `sku,name,price\n${rows.join("\n")}\n`;
  expect((await importCsv(test.backOffice, partner.merchantId, file)).status).toBe(200);
}
/** A file that sets each of them to its number. */
const countsOf = (count: number): string =>
  `sku,onHand\n${Array.from({ length: count }, (_, index) => `S-${index},${index}`).join("\n")}\n`;

describe("POST /api/facilities/{id}/stock/import with difference", () => {
  const HEADER = "sku,difference,reason,reference,note";
  beforeEach(async () => {
    await setStock(test, facility, mug, 10);
    await setStock(test, facility, bowl, 10);
  });

  it("adjusts the stock once for each reference, as the route for one product does", async () => {
    const file = `${HEADER}\nMUG,12,received,note-1,Pallet 7\nBOWL,-2,damaged,note-1,\n`;
    expect(counts(await imported(file))).toEqual([2, 0, 0]);
    expect(counts(await imported(file))).toEqual([0, 2, 0]);
    expect([await onHand(mug), await onHand(bowl)]).toEqual([22, 8]);
    expect((await movements()).slice(0, 2)).toMatchObject([
      { kind: "adjusted", difference: -2, reason: "damaged", reference: "note-1", note: null },
      { kind: "adjusted", difference: 12, reason: "received", reference: "note-1", note: "Pallet 7" },
    ]);
    const single = { difference: 12, reason: "received", reference: "note-1" };
    await test.backOffice.post(`/api/facilities/${facility}/stock/${mug}/adjust`, single);
    expect(await onHand(mug)).toBe(22);
  });

  it("leaves out what the stock forbids: too few units, a used reference, a product without a record", async () => {
    await imported(`${HEADER}\nMUG,1,found,count-1,\n`);
    const body = await imported(
      `${HEADER}\nMUG,2,found,count-1,\nBOWL,-11,lost,count-1,\nSPOON,1,found,count-1,\n`,
    );
    expect(counts(body)).toEqual([0, 0, 3]);
    expect(body.rejections).toMatchObject([
      { line: 2, column: "reference", rule: "reference_used" },
      { line: 3, column: "difference", rule: "stock_difference", min: -10 },
      { line: 4, column: "difference", rule: "not_found", kind: "stock_record" },
    ]);
    expect(await countRows(test, "stocked_products")).toBe(2);
  });
});

describe("POST /api/facilities/{id}/stock/import reads", () => {
  it.each([
    ["a byte order mark, CRLF and quotes", '\uFEFF"sku","onHand"\r\n"MUG","40"\r\n'],
    ["semicolons, as spreadsheets write them where numbers have a decimal comma", "sku;onHand\nMUG;40\n"],
    ["tabs", "sku\tonHand\nMUG\t40\n"],
    ["empty lines and carriage returns alone", "\r\rsku,onHand\r\rMUG,40\r"],
    ["columns without names of merchants that are empty", "merchantId,sku,onHand,note\n,MUG,40,\n"],
  ])("%s", async (_name, file) => {
    expect(counts(await imported(file))).toEqual([1, 0, 0]);
    expect(await onHand(mug)).toBe(40);
  });

  it("JSON, an object in each line", async () => {
    const file = [
      JSON.stringify({ sku: "MUG", onHand: 40 }),
      "",
      JSON.stringify({ productId: bowl, onHand: "7", note: null }),
    ].join("\n");
    expect(counts(await imported(file, { type: "application/x-ndjson" }))).toEqual([2, 0, 0]);
    expect([await onHand(mug), await onHand(bowl)]).toEqual([40, 7]);
    const adjusted = { sku: "MUG", difference: -1, reason: "lost", reference: "=1+1" };
    await imported(`${JSON.stringify(adjusted)}\n`, { type: "application/x-ndjson" });
    expect((await movements())[0]).toMatchObject({ difference: -1, reference: "=1+1" });
  });

  it("cells that an export has guarded against spreadsheets", async () => {
    await createProduct(test, partner.merchantId, { sku: "=A1" });
    await setStock(test, facility, mug, 5);
    expect(counts(await imported("sku,onHand\n'=A1,2\n"))).toEqual([1, 0, 0]);
    const file = "sku,difference,reason,reference\nMUG,'-2,lost,'+r1\n";
    expect(counts(await imported(file))).toEqual([1, 0, 0]);
    expect((await movements())[0]).toMatchObject({ difference: -2, reference: "+r1" });
  });
});

describe("POST /api/facilities/{id}/stock/import refuses", () => {
  it("a file with wrong rows, each with its line and column, and stores none of the right ones", async () => {
    const file = [
      "merchantId,productId,sku,onHand,difference,reason,note,reference",
      ",,MUG,40,,,,",
      ",,NONE,40,,,,",
      ",,MUG,-1,,,,",
      ",,,1,,,,",
      ",,BOWL,,,,,",
      ",,BOWL,1,1,found,,r",
      ",,BOWL,,0,,,",
      ",,BOWL,1,,found,,",
      "x,,BOWL,1,,,,",
      `,${other.productIds[0]},,1,,,,`,
      ",,BOWL,1.5,,,,",
      ",,BOWL,1,,,,,9",
      ",,MUG,41,,,,",
      ",7,,1,,,,",
    ].join("\n");
    await expectRefused(file, [
      { line: 3, column: "sku", rule: "not_found", kind: "merchant_product" },
      { line: 4, column: "onHand", rule: "minimum", min: 0 },
      { line: 5, column: "sku", rule: "one_required", others: ["barcode", "productId"] },
      { line: 6, column: "onHand", rule: "either", field: "difference" },
      { line: 7, column: "onHand", rule: "either", field: "difference" },
      { line: 8, column: "difference", rule: "not_zero" },
      { line: 8, column: "reason", rule: "required" },
      { line: 8, column: "reference", rule: "required" },
      { line: 9, column: "reason", rule: "only_with", field: "difference" },
      { line: 10, column: "merchantId", rule: "id_prefix", prefix: "mer_" },
      { line: 11, column: "productId", rule: "not_found", kind: "merchant_product" },
      { line: 12, column: "onHand", rule: "format", format: "whole-number" },
      { line: 13, rule: "cell_count", count: 9, expected: 8 },
      { line: 14, rule: "earlier_row", field: "productId" },
      { line: 15, column: "productId", rule: "format", format: "uuid" },
    ]);
  });

  it("a SKU without its merchant, and one that two products have", async () => {
    await expectRefused("sku,onHand\nMUG,1\n", [{ line: 2, column: "merchantId", rule: "required" }], {
      merchantId: null,
    });
    await createProduct(test, partner.merchantId, { sku: "MUG" });
    await expectRefused("sku,onHand\nMUG,1\n", [{ line: 2, column: "sku", rule: "sku_ambiguous", count: 2 }]);
  });

  it("hostile files: no rows, unknown columns, NUL, open quotes, wrong JSON, wrong text", async () => {
    await expectRefused("", [{ line: 1, rule: "header_row" }]);
    await expectRefused("sku,onhnd,onHand,On hand\nMUG,1,1,1\n", [
      { line: 1, column: "onhnd", rule: "unknown_column" },
      { line: 1, column: "onHand", rule: "duplicate_column" },
    ]);
    await expectRefused("sku,onHand\nM\0G,1\n", [{ line: 2, column: "sku", rule: "format", format: "text" }]);
    await expectRefused('sku,onHand\nMUG,1\n"BOWL,2\n', [{ line: 3, rule: "file", fault: "open_quote" }]);
    await expectRefused(`sku,onHand\n"${"x".repeat(300_000)}`, [
      { line: 2, rule: "file", fault: "long_row" },
    ]);
    const lines = ['{"sku":"MUG","onHand":1}', "{", "[1]", '{"sku":["MUG"],"onHand":1}', '{"SKU":"MUG"}'];
    await expectRefused(lines.join("\n"), [
      { line: 2, rule: "json_line" },
      { line: 3, rule: "json_line" },
      { line: 4, column: "sku", rule: "type" },
      { line: 5, column: "SKU", rule: "unknown_column" },
    ]);
    await expectRefused(`{"sku":"${"x".repeat(300_000)}`, [{ line: 1, rule: "file", fault: "long_row" }]);
    expectProblem(await importStock("{}", { type: "application/json" }), 415, "unsupported-media-type");
  });

  it("a second import of the facility at the same time with 409, and none at another one", async () => {
    const elsewhere = await createFacility(test);
    await setStock(test, facility, mug, 10);
    const { first } = await test.context.db.transaction(async (tx) => {
      await lockStock(tx, [{ merchantId: fromTypeId("mer", partner.merchantId) ?? "", id: mug }]);
      const first = importStock("sku,onHand\nMUG,1\n");
      await untilBlocked(test, 1);
      const second = await importStock("sku,onHand\nMUG,2\n");
      expectProblem(second, 409, "limit-reached", { limit: "runningImports", maximum: 1 });
      expect((await importStock("sku,onHand\nBOWL,3\n", { at: elsewhere, dryRun: true })).status).toBe(200);
      return { first };
    });
    expect((await first).status).toBe(200);
    expect(await onHand(mug)).toBe(1);
  });

  it("a facility that the caller does not see, as if it were missing, and roles and tokens without the right", async () => {
    const elsewhere = await createFacility(test);
    const grant: Grant = { role: "warehouse", facilityIds: [fromTypeId("fac", elsewhere) ?? ""] };
    const staff = test.backOfficeFor({ name: "Wilma", grants: [grant] });
    const file = "sku,onHand\nMUG,1\n";
    const foreign = await importStock(file, { client: staff });
    const missing = await importStock(file, { client: staff, at: "fac_01m7y7np16fe68bxp4h91tdmdn" });
    expect(foreign.status).toBe(404);
    expect(withoutItsOwn(foreign)).toBe(withoutItsOwn(missing));
    expect((await importStock(file, { client: staff, at: elsewhere })).status).toBe(200);
    const merchantIds = [fromTypeId("mer", partner.merchantId) ?? ""];
    const owner = test.backOfficeFor({ name: "Mia", grants: [{ role: "merchant", merchantIds }] });
    expect((await importStock(file, { client: owner })).status).toBe(403);
    const fields = { name: "WMS", role: "warehouse", scopes: ["stock:read"] };
    const { token } = (await test.backOffice.post("/api/tokens", fields)).body;
    expect((await importStock(file, { client: test.backOfficeAs(token) })).body.code).toBe("scope-required");
  });
});
