import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anAddress,
  aProduct,
  created,
  createExposedProduct,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  placeOrder,
} from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("PUT and DELETE /api/connections/{id}/products/{productId}", () => {
  const ask = (method: string, productId: string, connectionId = partner.connectionId) =>
    test.backOffice.request(method, `/api/connections/${connectionId}/products/${productId}`);
  const seenByPartner = async (id: string) => (await partner.client.get(`/v1/products/${id}`)).status;

  it("exposes a product, which the partner sees and may order from then on", async () => {
    const path = `/api/merchants/${partner.merchantId}/products`;
    const product = await created(test.backOffice.post(path, aProduct()));
    expect(await seenByPartner(product.id)).toBe(404);
    expect(await ask("PUT", product.id)).toMatchObject({ status: 200, body: product });
    expect(await seenByPartner(product.id)).toBe(200);
    await placeOrder(partner, { lines: [{ productId: product.id, quantity: 1 }] });
  });

  it("exposing it again returns the same and stores nothing", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const before = await dumpTables(test);
    test.clock.advance({ minutes: 1 });
    expect((await ask("PUT", id)).status).toBe(200);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("takes the product's id in either case of letters", async () => {
    const id = await createProduct(test, partner.merchantId);
    expect((await ask("PUT", id.toUpperCase())).status).toBe(200);
    expect(await seenByPartner(id)).toBe(200);
  });

  it("withdraws it: the partner neither sees nor orders it, and existing orders do not change", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    const lines = [{ productId: id, quantity: 1 }];
    const placed = await placeOrder(partner, { lines });
    const before = await readOrder(partner, placed.id);
    const answer = await ask("DELETE", id);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(await seenByPartner(id)).toBe(404);
    const rejected = await partner.client.post("/v1/orders", {
      externalOrderId: "withdrawn",
      lines,
      shippingAddress: anAddress(),
    });
    expect(rejected.status).toBe(422);
    expect(await readOrder(partner, placed.id)).toEqual(before);
  });

  it("withdrawing a product that is not exposed or does not exist returns 204 and stores nothing", async () => {
    const id = await createProduct(test, partner.merchantId);
    const before = await dumpTables(test);
    for (const productId of [id, "018f0000-0000-7000-8000-000000000000", "none"])
      expect((await ask("DELETE", productId)).status).toBe(204);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("withdraws it from one connection only", async () => {
    const { body } = await test.backOffice.post(`/api/merchants/${partner.merchantId}/connections`, {
      name: "Other",
    });
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await exposeProduct(test, body.id, id);
    await ask("DELETE", id, body.id);
    expect(await seenByPartner(id)).toBe(200);
  });

  it("never exposes another merchant's product: it is treated as missing, and nothing is stored", async () => {
    const other = await createPartner(test);
    const foreign = await createProduct(test, other.merchantId);
    const before = await dumpTables(test);
    const rejected = await ask("PUT", foreign);
    const missing = await ask("PUT", "018f0000-0000-7000-8000-000000000000");
    expect(rejected.status).toBe(404);
    expect({ ...rejected.body, instance: "" }).toEqual({ ...missing.body, instance: "" });
    expect(await seenByPartner(foreign)).toBe(404);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("never withdraws a product from a connection that was not named", async () => {
    const other = await createPartner(test);
    await ask("DELETE", other.productIds[0]);
    expect((await other.client.get(`/v1/products/${other.productIds[0]}`)).status).toBe(200);
  });

  it("returns 404 for a missing connection", async () => {
    const id = await createProduct(test, partner.merchantId);
    for (const method of ["PUT", "DELETE"])
      for (const connectionId of ["con_01hzzzzzzzzzzzzzzzzzzzzzzz", "none"])
        expect((await ask(method, id, connectionId)).status).toBe(404);
    expect((await ask("PUT", "none")).status).toBe(404);
  });
});
