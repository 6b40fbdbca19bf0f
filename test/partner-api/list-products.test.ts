import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anOrder,
  createExposedProduct,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  readEvents,
} from "../support/builders.ts";
import { expectErrors } from "../support/orders.ts";
import {
  PRICE,
  partnerWithProducts,
  readAllPages,
  readPage,
  withdrawProduct,
} from "../support/product-pages.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

describe("GET /v1/products", () => {
  it("lists the products that the merchant exposes to the connection", async () => {
    const partner = await createPartner(test);
    const { status, body } = await partner.client.get("/v1/products");
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(["data", "nextCursor"]);
    expect(body.nextCursor).toBeNull();
    const now = test.clock.now().toISOString();
    expect(body.data).toEqual(
      partner.productIds.map((id) => ({
        id,
        sku: "SKU-1",
        status: "active",
        name: "Product",
        description: null,
        imageUrl: null,
        weightGrams: null,
        createdAt: now,
        updatedAt: now,
      })),
    );
  });

  it("returns every field that the merchant has set", async () => {
    const partner = await createPartner(test);
    const fields = {
      sku: "MUG-01",
      name: "Mug \u{1f375}",
      description: "Stoneware",
      imageUrl: "https://example.com/mug.png",
      weightGrams: 380,
    };
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId, fields);
    const { body } = await partner.client.get("/v1/products");
    expect(body.data.at(-1)).toMatchObject({ id, ...fields });
  });

  it("is empty for a connection to which nothing is exposed", async () => {
    const partner = await createPartner(test);
    for (const id of partner.productIds) await withdrawProduct(test, partner, id);
    expect(await readPage(partner)).toEqual({ ids: [], nextCursor: null });
  });

  it("leaves out products that are not exposed, withdrawn, or exposed only to another connection", async () => {
    const partner = await createPartner(test);
    const other = await createPartner(test);
    await createProduct(test, partner.merchantId);
    const withdrawn = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await withdrawProduct(test, partner, withdrawn);
    expect((await readPage(partner)).ids).toEqual(partner.productIds);
    expect((await readPage(other)).ids).toEqual(other.productIds);
  });

  it("lists a discontinued product with its status", async () => {
    const partner = await createPartner(test);
    await test.backOffice.request("PATCH", `/api/products/${partner.productIds[0]}`, {
      body: { status: "discontinued" },
    });
    const { body } = await partner.client.get("/v1/products");
    expect(body.data.map(({ status }: { status: string }) => status)).toEqual(["discontinued", "active"]);
  });

  it("never shows a price, in any response or event", async () => {
    const partner = await createPartner(test);
    const price = { amount: "7654.32", currency: "EUR" };
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId, { price });
    const { client } = partner;
    const answers = [
      await client.get("/v1/products"),
      await client.get("/v1/products?sku=SKU-1"),
      await client.get(`/v1/products/${id}`),
      await client.post("/v1/orders", anOrder({ productIds: [id, id] }, { externalOrderId: "priceless" })),
      await client.get("/v1/orders/priceless"),
      await client.post("/v1/orders/priceless/cancel"),
    ];
    for (const { status, body } of answers) {
      expect(status).toBeLessThan(300);
      expect(JSON.stringify(body)).not.toMatch(PRICE);
    }
    const events = await readEvents(test, partner.connectionId);
    expect(events.map(({ type }) => type)).toContain("product.published");
    expect(JSON.stringify(events)).not.toMatch(PRICE);
  });
});

describe("the order of products", () => {
  it("is oldest first, by creation and not by exposure", async () => {
    const partner = await createPartner(test);
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      test.clock.advance({ seconds: 1 });
      ids.push(await createProduct(test, partner.merchantId));
    }
    test.clock.advance({ seconds: 1 });
    for (const id of [...ids].reverse()) await exposeProduct(test, partner.connectionId, id);
    expect((await readPage(partner)).ids).toEqual([...partner.productIds, ...ids]);
  });

  it("stays when a product is changed, or withdrawn and exposed again", async () => {
    const { partner, ids } = await partnerWithProducts(test, 5);
    const second = String(ids[1]);
    test.clock.advance({ minutes: 1 });
    await test.backOffice.request("PATCH", `/api/products/${second}`, { body: { name: "Another name" } });
    await withdrawProduct(test, partner, second);
    await exposeProduct(test, partner.connectionId, second);
    expect((await readPage(partner)).ids).toEqual(ids);
  });
});

describe("sku", () => {
  let partner: Partner;
  const idsBySku = new Map<string, string[]>();
  beforeAll(async () => {
    partner = await createPartner(test);
    const { merchantId, connectionId } = partner;
    for (const sku of ["A", "B", "A", "a", "A-1", "A ", "%", "_", "é/ü&=+", "A", "B"]) {
      const id = await createExposedProduct(test, merchantId, connectionId, { sku });
      idsBySku.set(sku, [...(idsBySku.get(sku) ?? []), id]);
    }
  });

  it.each(["A", "B", "a", "A-1", "A ", "%", "_", "é/ü&=+"])(
    "%j returns every product with exactly this SKU, oldest first",
    async (sku) => {
      const page = await readPage(partner, `?sku=${encodeURIComponent(sku)}`);
      expect(page).toEqual({ ids: idsBySku.get(sku), nextCursor: null });
    },
  );

  it.each(["C", "AA", "%25", "A%25", "", "%ff"])("%j of no product returns an empty page", async (sku) => {
    const page = await readPage(partner, `?sku=${sku === "%25" ? "%25%25" : sku}`);
    expect(page).toEqual({ ids: [], nextCursor: null });
  });

  it("is paged by the cursor as well", async () => {
    expect((await readAllPages(partner, "sku=A&limit=1")).flat()).toEqual(idsBySku.get("A"));
    expect((await readAllPages(partner, "sku=A&limit=2")).map((page) => page.length)).toEqual([2, 1]);
  });

  it("finds a discontinued product, but none that is not exposed to the connection", async () => {
    const shop = await createPartner(test);
    const discontinued = await createExposedProduct(test, shop.merchantId, shop.connectionId, { sku: "OLD" });
    await test.backOffice.request("PATCH", `/api/products/${discontinued}`, {
      body: { status: "discontinued" },
    });
    await createProduct(test, shop.merchantId, { sku: "OLD" });
    await createExposedProduct(test, partner.merchantId, partner.connectionId, { sku: "OLD" });
    expect((await readPage(shop, "?sku=OLD")).ids).toEqual([discontinued]);
  });

  it("of 255 characters is accepted, of 256 rejected with 422", async () => {
    const sku = "x".repeat(255);
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId, { sku });
    expect((await readPage(partner, `?sku=${sku}`)).ids).toEqual([id]);
    expectErrors(await partner.client.get(`/v1/products?sku=${sku}x`), [{ parameter: "sku" }]);
  });

  it("that no product can have is rejected with 422: a NUL character, or two of them", async () => {
    expectErrors(await partner.client.get("/v1/products?sku=A%00"), [{ parameter: "sku" }]);
    expectErrors(await partner.client.get("/v1/products?sku=A&sku=B"), [{ parameter: "sku" }]);
  });
});

describe("pages that are requested at the same time", () => {
  it("contain only the products of their own connection", async () => {
    const partners = await Promise.all([createPartner(test), createPartner(test), createPartner(test)]);
    const pages = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const partner = partners[index % 3] as Partner; // There are three.
        const limit = 1 + (index % 2);
        return { page: await readPage(partner, `?limit=${limit}`), partner, limit };
      }),
    );
    for (const { page, partner, limit } of pages)
      expect(page.ids).toEqual(partner.productIds.slice(0, limit));
  });
});
