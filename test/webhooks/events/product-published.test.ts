import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createExposedProduct,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  readEvents,
} from "../../support/builders.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const expose = ({ backOffice }: TestService, connectionId: string, productId: string) =>
  backOffice.request("PUT", `/api/connections/${connectionId}/products/${productId}`);
const withdraw = ({ backOffice }: TestService, connectionId: string, productId: string) =>
  backOffice.request("DELETE", `/api/connections/${connectionId}/products/${productId}`);

describe("product.published", () => {
  const publishedOf = async (productId: string) =>
    (await readEvents(test)).filter((event) => event.data.product?.id === productId);

  it("shows the product exactly as a read shows it to the partner: without its price", async () => {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId, {
      sku: "P-1",
      description: "A thing.",
    });
    const [event, ...more] = await publishedOf(id);
    expect(more).toEqual([]);
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
      type: "product.published",
      timestamp: test.clock.now().toISOString(),
      testMode: false,
      connectionId: partner.connectionId,
      sequence: null,
      data: { product: (await partner.client.get(`/v1/products/${id}`)).body },
    });
    expect(JSON.stringify(event)).not.toMatch(/price|"10\.00"|EUR|mer_/);
  });

  it("once, however often the product is exposed", async () => {
    const id = await createProduct(test, partner.merchantId);
    for (let time = 0; time < 3; time += 1) await exposeProduct(test, partner.connectionId, id);
    expect(await publishedOf(id)).toHaveLength(1);
  });

  it("once, when twenty expose it at the same time", async () => {
    const id = await createProduct(test, partner.merchantId);
    await Promise.all(Array.from({ length: 20 }, () => exposeProduct(test, partner.connectionId, id)));
    expect(await publishedOf(id)).toHaveLength(1);
  });

  it("again only after the product was withdrawn and exposed again", async () => {
    const id = await createProduct(test, partner.merchantId);
    await exposeProduct(test, partner.connectionId, id);
    await withdraw(test, partner.connectionId, id);
    expect(await publishedOf(id)).toHaveLength(1);
    await exposeProduct(test, partner.connectionId, id);
    await exposeProduct(test, partner.connectionId, id);
    const events = await publishedOf(id);
    expect(events).toHaveLength(2);
    expect(events[0].id).not.toBe(events[1].id);
  });

  it("on each connection separately, and on no other", async () => {
    const path = `/api/merchants/${partner.merchantId}/connections`;
    const [one, two, three] = await Promise.all(
      ["one", "two", "three"].map(async (name) => (await test.backOffice.post(path, { name })).body.id),
    );
    const id = await createProduct(test, partner.merchantId);
    for (const connectionId of [one, two]) await exposeProduct(test, connectionId, id);
    expect((await publishedOf(id)).map(({ connectionId }) => connectionId)).toEqual([one, two]);
    expect(await readEvents(test, three)).toEqual([]);
  });

  it("not when the product could not be exposed", async () => {
    const foreign = await createProduct(test, (await createPartner(test)).merchantId);
    expect((await expose(test, partner.connectionId, foreign)).status).toBe(404);
    expect(await publishedOf(foreign)).toEqual([]);
  });

  it("not when a product is made, changed or withdrawn", async () => {
    const id = await createProduct(test, partner.merchantId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { name: "New" } });
    await withdraw(test, partner.connectionId, id);
    expect(await publishedOf(id)).toEqual([]);
  });
});
