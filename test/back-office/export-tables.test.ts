import { readXlsx } from "hucre/xlsx";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { acceptAll, createFacility, routeAll } from "../support/facilities.ts";
import { importCsv } from "../support/imports.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

const WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
  await placeOrder(partner, { externalOrderId: "00042" });
  await acceptAll(test);
  await routeAll(test);
});
afterAll(() => test.close());

const rowsOf = async (workbook: Uint8Array) => {
  const { sheets } = await readXlsx(workbook);
  expect(sheets).toHaveLength(1);
  return sheets[0]?.rows ?? [];
};
const PATHS: readonly [string, string, () => string][] = [
  ["the catalog", "products", () => `/api/merchants/${partner.merchantId}/products/export`],
  ["the statement", "statement", () => `/api/merchants/${partner.merchantId}/statement/export`],
  ["the stock", "stock", () => `/api/facilities/${facility}/stock/export`],
  ["orders", "orders", () => "/api/orders/export"],
  ["deliveries", "deliveries", () => `/api/connections/${partner.connectionId}/deliveries/export`],
  ["the work list", "work-list", () => "/api/work-list/export"],
  ["the audit log", "audit", () => "/api/audit-entries/export"],
];

describe.each(PATHS)("the export of %s", (_, name, path) => {
  it("is CSV as it is for programs, CSV with a mark for spreadsheets, or a workbook", async () => {
    const csv = await test.backOffice.get(path());
    expect(csv.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    });
    expect(csv.body).not.toMatch(/^\uFEFF/);
    const marked = await test.backOffice.get(`${path()}?format=spreadsheet`);
    expect(marked.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(marked.body).toMatch(/^\uFEFF\w+,/);
    const workbook = await test.backOffice.get(`${path()}?format=xlsx`);
    expect(workbook.headers).toMatchObject({
      "content-type": WORKBOOK,
      "content-disposition": `attachment; filename="${name}.xlsx"`,
    });
    const [head] = await rowsOf(workbook.body);
    expect(head?.join(",")).toBe(csv.body.split("\r\n")[0]);
    expect((await test.backOffice.get(`${path()}?format=pdf`)).status).toBe(422);
  });
});

describe("a workbook", () => {
  const TEXTS = [
    "00123",
    "12-10",
    "1E5",
    "MAR1",
    "=1+1",
    "'=1",
    " a\tb\r\nc ",
    "\u{1F375} \u8336",
    "_x000D_",
    "<&\"'>",
  ];

  it("has identifiers as text and amounts as numbers, and is imported without a change", async () => {
    const merchant = { name: "M", accountEmail: "m@example.com" };
    const { id } = (await test.backOffice.post("/api/merchants", merchant)).body;
    for (const [index, text] of TEXTS.entries()) {
      const product = { sku: text, name: text, description: text, weightGrams: 7, barcode: `00000${index}` };
      const price = { amount: "1234.50", currency: "EUR" };
      expect(
        (await test.backOffice.post(`/api/merchants/${id}/products`, { ...product, price })).status,
      ).toBe(201);
    }
    const { body } = await test.backOffice.get(`/api/merchants/${id}/products/export?format=xlsx`);
    const [, first] = await rowsOf(body);
    expect(first?.slice(1)).toEqual(["00123", "00123", 1234.5, 7, "00123", null, "active", "000000", null]);
    const before = await dumpTables(test);
    const again = await importCsv(test.backOffice, id, body, { type: WORKBOOK });
    expect(again.body).toMatchObject({ created: 0, changed: 0, unchanged: TEXTS.length });
    expect(await dumpTables(test)).toEqual(before);
  });

  it("of stock is imported, and changes the units that were changed", async () => {
    const at = await createFacility(test);
    const [first = "", second = ""] = partner.productIds;
    for (const productId of [first, second])
      await test.backOffice.request("PUT", `/api/facilities/${at}/stock/${productId}`, {
        body: { onHand: 5 },
      });
    const csv = (await test.backOffice.get(`/api/facilities/${at}/stock/export`)).body;
    expect(csv.split("\r\n")[1]).toMatch(new RegExp(`^${partner.merchantId},${first},.*,5,0,5$`));
    const rawBody = csv.replace(",5,0,5", ",7,0,5");
    const headers = { "content-type": "text/csv" };
    const path = `/api/facilities/${at}/stock/import`;
    expect((await test.backOffice.request("POST", path, { rawBody, headers })).body).toMatchObject({
      ...{ changed: 1, unchanged: 1, changes: [{ productId: first, onHandBefore: 5, onHand: 7 }] },
    });
  });

  it("of orders keeps the partner's ids and the postal code", async () => {
    const { body } = await test.backOffice.get("/api/orders/export?format=xlsx");
    const [head = [], row = []] = await rowsOf(body);
    expect(row[head.indexOf("externalOrderId")]).toBe("00042");
    expect(row[head.indexOf("zip")]).toEqual(expect.any(String));
    expect(row[head.indexOf("quantity")]).toEqual(expect.any(Number));
  });
});
