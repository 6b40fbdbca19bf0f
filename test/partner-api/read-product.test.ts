import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExposedProduct, createPartner, createProduct, type Partner } from "../support/builders.ts";
import { expectProblem, withoutItsOwn } from "../support/orders.ts";
import { PRICE } from "../support/product-pages.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const read = (id: string, { client }: Partner = partner) => client.get(`/v1/products/${id}`);

describe("GET /v1/products/{id}", () => {
  it("reads one product by its UUID, exactly as the list shows it", async () => {
    const [id] = partner.productIds;
    const { status, body } = await read(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, sku: "SKU-1", status: "active" });
    const { body: page } = await partner.client.get("/v1/products");
    expect(body).toEqual(page.data[0]);
  });

  it("accepts the UUID in upper case, and returns it in lower case", async () => {
    const [id] = partner.productIds;
    const { status, body } = await read(id.toUpperCase());
    expect(status).toBe(200);
    expect(body.id).toBe(id);
  });

  it("takes the UUID percent-encoded", async () => {
    const [id] = partner.productIds;
    expect((await read(id.replaceAll("-", "%2D"))).body.id).toBe(id);
  });

  it("also returns a discontinued product", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    const { status, body } = await read(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: "discontinued" });
  });

  it("shows a change at once, with its time", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const { body: before } = await read(id);
    test.clock.advance({ minutes: 5 });
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { sku: "NEW", weightGrams: 1 } });
    const updatedAt = test.clock.now().toISOString();
    expect((await read(id)).body).toEqual({ ...before, sku: "NEW", weightGrams: 1, updatedAt });
  });

  it("shows no price", async () => {
    const price = { amount: "7654.32", currency: "EUR" };
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId, { price });
    expect(JSON.stringify((await read(id)).body)).not.toMatch(PRICE);
  });
});

describe("a product that is not the connection's", () => {
  it("returns 404 not-found when there is none with this UUID", async () => {
    expectProblem(await read("018f0000-0000-7000-8000-000000000000"), 404, "not-found");
  });

  it("returns the same whether it is missing, not exposed, withdrawn, or another connection's", async () => {
    const missing = withoutItsOwn(await read("018f0000-0000-7000-8000-000000000000"));
    const other = await createPartner(test);
    const sibling = await test.backOffice.post(`/api/merchants/${partner.merchantId}/connections`, {
      name: "Sibling",
    });
    const unexposed = await createProduct(test, partner.merchantId);
    const withdrawn = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await test.backOffice.request("DELETE", `/api/connections/${partner.connectionId}/products/${withdrawn}`);
    const siblings = await createExposedProduct(test, partner.merchantId, sibling.body.id);
    for (const id of [unexposed, withdrawn, other.productIds[0], siblings]) {
      const answer = await read(id);
      expectProblem(answer, 404, "not-found");
      expect(withoutItsOwn(answer)).toBe(missing);
    }
  });

  it("can be read again once it is exposed again", async () => {
    const id = await createProduct(test, partner.merchantId);
    expect((await read(id)).status).toBe(404);
    await test.backOffice.request("PUT", `/api/connections/${partner.connectionId}/products/${id}`);
    expect((await read(id)).status).toBe(200);
  });
});

describe("an id that is not a UUID", () => {
  const [uuid] = ["018f0000-0000-7000-8000-000000000000"];

  it.each([
    "1",
    "null",
    "SKU-1",
    "..",
    uuid.replaceAll("-", ""),
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    `${uuid}0`,
    uuid.slice(1),
    `${uuid}%20`,
    `%20${uuid}`,
    `${uuid}%0A`,
    `${uuid}%00`,
    "018f0000-0000-7000-8000-00000000000g",
    "ord_01m7y7np16fe68bxp4h91tdmdn",
    "%00",
    "%F0%9F%98%80",
    "a%2Fb",
    "x".repeat(201),
    "x".repeat(5_000),
    "'%20or%201=1%20--",
  ])("names no product: %s returns 404 not-found", async (text) => {
    expectProblem(await read(text), 404, "not-found");
  });

  it("is rejected with the same text as a UUID of no product", async () => {
    expect(withoutItsOwn(await read("1"))).toBe(withoutItsOwn(await read(uuid)));
  });
});
