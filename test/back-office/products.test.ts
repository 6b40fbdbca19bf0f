import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anAddress,
  aProduct,
  countRows,
  createExposedProduct,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
} from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const create = (fields: object = {}, merchantId = partner.merchantId) =>
  test.backOffice.post(`/api/merchants/${merchantId}/products`, aProduct(fields));
const change = (id: string, body: object): Promise<Answer> =>
  test.backOffice.request("PATCH", `/api/products/${id}`, { body });
const merchantIn = async (currency: string): Promise<string> => {
  const body = { name: "Shop", accountEmail: "shop@example.com", currency };
  return (await test.backOffice.post("/api/merchants", body)).body.id;
};

/** Errors of a product's fields, the same at creation and at a change. */
const FAULTS: [string, object, string][] = [
  ["an empty SKU", { sku: "" }, "/sku"],
  ["a SKU of 256 characters", { sku: "x".repeat(256) }, "/sku"],
  ["a SKU with a NUL", { sku: "\u0000" }, "/sku"],
  ["an empty name", { name: "" }, "/name"],
  ["a name with half a character", { name: "\ud800" }, "/name"],
  ["a price that is a text", { price: "10.00" }, "/price"],
  ["a price without an amount", { price: { currency: "EUR" } }, "/price/amount"],
  ["a price without a currency", { price: { amount: "10.00" } }, "/price/currency"],
  ["a negative price", { price: { amount: "-1.00", currency: "EUR" } }, "/price/amount"],
  ["a price that is a number", { price: { amount: 10, currency: "EUR" } }, "/price/amount"],
  ["a price with too many decimals", { price: { amount: "1.001", currency: "EUR" } }, "/price"],
  ["a price that is too large", { price: { amount: "1000000000.01", currency: "EUR" } }, "/price"],
  ["a price in another currency", { price: { amount: "1.00", currency: "USD" } }, "/price"],
  ["an unknown currency", { price: { amount: "1.00", currency: "XXQ" } }, "/price/currency"],
  ["a negative weight", { weightGrams: -1 }, "/weightGrams"],
  ["a broken weight", { weightGrams: 1.5 }, "/weightGrams"],
  ["a weight out of range", { weightGrams: 2_000_000_001 }, "/weightGrams"],
  ["a description of 10 001 characters", { description: "x".repeat(10_001) }, "/description"],
  ["an image address that is none", { imageUrl: "image.png" }, "/imageUrl"],
];

describe("POST /api/merchants/{id}/products", () => {
  it("creates an active product with a UUID of its own", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      merchantId: partner.merchantId,
      ...aProduct(),
      status: "active",
      description: null,
      imageUrl: null,
      weightGrams: null,
      barcode: null,
      lowStockBelow: null,
      createdAt: test.clock.now().toISOString(),
      updatedAt: test.clock.now().toISOString(),
    });
  });

  it("keeps all details as they were sent", async () => {
    const details = { description: "Ünïcode 🦊", imageUrl: "https://example.com/a.png", weightGrams: 0 };
    expect((await create(details)).body).toMatchObject(details);
  });

  it("has no description if the text is empty, and loses it by an empty text", async () => {
    expect((await create({ description: "" })).body.description).toBeNull();
    const { id } = (await create({ description: "Blue" })).body;
    const { status, body } = await change(id, { description: "" });
    expect([status, body.description]).toEqual([200, null]);
  });

  it("two products may share a SKU", async () => {
    const [one, two] = [await create({ sku: "SAME" }), await create({ sku: "SAME" })];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(two.body.id);
  });

  it.each([
    ["EUR", "0.10", "0.10"],
    ["EUR", "3", "3.00"],
    ["JPY", "100", "100"],
    ["KWD", "1.005", "1.005"],
    ["KWD", "1.5", "1.500"],
  ])(
    "takes a price in the merchant's currency with its decimals: %s %s → %s",
    async (currency, amount, shown) => {
      const { body } = await create({ price: { amount, currency } }, await merchantIn(currency));
      expect(body.price).toEqual({ amount: shown, currency });
    },
  );

  it.each([
    ["JPY", "1.5", "without decimals, of at most 100000000000"],
    ["JPY", "1.0", "without decimals, of at most 100000000000"],
    ["KWD", "1.0005", "with at most 3 decimals, of at most 100000000.000"],
  ])("rejects more decimals than the currency has: %s %s", async (currency, amount, rule) => {
    const { status, body } = await create({ price: { amount, currency } }, await merchantIn(currency));
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([
      { pointer: "/price", rule: "amount", currency, detail: `must be an amount in ${currency} ${rule}` },
    ]);
  });

  it.each([
    ...FAULTS,
    ["no SKU", { sku: undefined }, "/sku"],
    ["no name", { name: undefined }, "/name"],
    ["no price", { price: undefined }, "/price"],
  ] as typeof FAULTS)("rejects %s with 422", async (_title, fields, pointer) => {
    const before = await countRows(test, "products");
    const { status, body } = await create(fields);
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    expect(await countRows(test, "products")).toBe(before);
  });

  it("reports all errors at once", async () => {
    const { body } = await create({ sku: "", name: 1, weightGrams: -1, price: {} });
    const pointers = body.errors.map((error: { pointer: string }) => error.pointer).sort();
    expect(pointers).toEqual(["/name", "/price/amount", "/price/currency", "/sku", "/weightGrams"]);
  });

  it("returns 404 for a missing merchant", async () => {
    expect((await create({}, "mer_01hzzzzzzzzzzzzzzzzzzzzzzz")).status).toBe(404);
  });
});

describe("PATCH /api/products/{id}", () => {
  it("changes only what is sent, and shows when", async () => {
    const { body: product } = await create({ description: "old", weightGrams: 5 });
    test.clock.advance({ seconds: 1 });
    const updatedAt = test.clock.now().toISOString();
    const { status, body } = await change(product.id, { name: "New", description: null });
    expect(status).toBe(200);
    expect(body).toEqual({ ...product, name: "New", description: null, updatedAt });
  });

  it.each(FAULTS)("rejects %s with 422 and changes nothing", async (_title, fields, pointer) => {
    const id = await createProduct(test, partner.merchantId);
    const before = await dumpTables(test);
    const { status, body } = await change(id, { name: "New", status: "discontinued", ...fields });
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("rejects an unknown status", async () => {
    const id = await createProduct(test, partner.merchantId);
    for (const status of ["deleted", "ACTIVE", ""]) {
      const { body } = await change(id, { status });
      expect(body.errors).toMatchObject([{ pointer: "/status" }]);
    }
  });

  it("does not move a product to another merchant, nor rename it by id", async () => {
    const { body: product } = await create();
    const other = await merchantIn("EUR");
    const { body } = await change(product.id, { id: "x", merchantId: other, createdAt: "x" });
    expect(body).toEqual({ ...product, updatedAt: body.updatedAt });
  });

  it("discontinues a product and takes it back: it cannot, then can, be ordered", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const order = () => {
      const body = { lines: [{ productId: id, quantity: 1 }], shippingAddress: anAddress() };
      return partner.client.post("/v1/orders", body, {
        headers: { "idempotency-key": `discontinued ${id}` },
      });
    };
    await change(id, { status: "discontinued" });
    expect((await order()).status).toBe(422);
    expect((await partner.client.get(`/v1/products/${id}`)).body.status).toBe("discontinued");
    await change(id, { status: "active" });
    expect((await order()).status).toBe(201);
  });

  it("leaves the price of orders that exist", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await placeOrder(partner, { lines: [{ productId: id, quantity: 2 }] });
    const { orders, order_lines: lines } = await dumpTables(test);
    await change(id, { price: { amount: "99.00", currency: "EUR" } });
    expect(await dumpTables(test)).toMatchObject({ orders, order_lines: lines });
  });

  it("shows the partner the change, but never the price", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await change(id, { name: "Seen", price: { amount: "77.77", currency: "EUR" } });
    const { body } = await partner.client.get(`/v1/products/${id}`);
    expect(body.name).toBe("Seen");
    expect(JSON.stringify(body)).not.toMatch(/77\.77|price|EUR|merchant/);
  });

  it("loses neither of two changes that are made at the same time", async () => {
    const { body: product } = await create();
    await Promise.all([
      ...Array.from({ length: 5 }, () => change(product.id, { name: "New" })),
      ...Array.from({ length: 5 }, () => change(product.id, { sku: "NEW" })),
    ]);
    const { body } = await change(product.id, {});
    expect(body).toMatchObject({ name: "New", sku: "NEW" });
  });

  it("returns 404 for a missing one", async () => {
    for (const id of ["018f0000-0000-7000-8000-000000000000", "none", "%00", partner.merchantId])
      expect((await change(id, { name: "x" })).status).toBe(404);
  });
});

describe("GET /api/merchants/{id}/products, narrowed", () => {
  it("to a SKU, to a status, and to both", async () => {
    const { merchantId } = await createPartner(test);
    const twins = [
      await createProduct(test, merchantId, { sku: "TWIN" }),
      await createProduct(test, merchantId, { sku: "TWIN" }),
    ];
    const gone = { body: { status: "discontinued" } };
    expect((await test.backOffice.request("PATCH", `/api/products/${twins[1]}`, gone)).status).toBe(200);
    const idsOf = async (query: string): Promise<string[]> => {
      const { status, body } = await test.backOffice.get(`/api/merchants/${merchantId}/products?${query}`);
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await idsOf("sku=TWIN")).toEqual(twins);
    expect(await idsOf("sku=TWIN&status=active")).toEqual([twins[0]]);
    expect(await idsOf("status=discontinued")).toEqual([twins[1]]);
    expect(await idsOf("sku=twin")).toEqual([]);
    expect(await idsOf("sku=%00")).toEqual([]);
    expect((await test.backOffice.get(`/api/merchants/${merchantId}/products?status=gone`)).status).toBe(422);
  });

  it("and one by its id", async () => {
    const { merchantId, productIds } = await createPartner(test);
    const { status, body } = await test.backOffice.get(`/api/products/${productIds[0]}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: productIds[0],
      merchantId,
      price: { amount: "10.00", currency: "EUR" },
    });
    for (const id of ["019f1f83-aac1-73a5-9745-52489a50b5b6", "x"])
      expect((await test.backOffice.get(`/api/products/${id}`)).status).toBe(404);
  });
});
