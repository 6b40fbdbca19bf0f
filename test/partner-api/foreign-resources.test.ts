import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anOrder,
  createKey,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("resources of another connection", () => {
  const MISSING = {
    order: "ord_01m7y7np16fe68bxp4h91tdmdn",
    testOrder: "test_01m7y7np16fe68bxp4h91tdmdn",
    product: "018f0000-0000-7000-8000-000000000000",
  };
  type Ask = (id: string) => Promise<Parameters<typeof withoutItsOwn>[0]>;
  const readOrder: Ask = (id) => partner.client.get(`/v1/orders/${id}`);
  const cancel: Ask = (id) => partner.client.post(`/v1/orders/${id}/cancel`);
  const transition: Ask = (id) =>
    partner.client.post(`/v1/test/orders/${id}/transitions`, { transition: "cancel" });
  const readProduct: Ask = (id) => partner.client.get(`/v1/products/${id}`);
  const orderProduct: Ask = (id) =>
    partner.client.post(
      "/v1/orders",
      anOrder(partner, { lines: [{ productId: id, quantity: 1 }], externalOrderId: "foreign" }),
    );

  let other: Partner;
  beforeAll(async () => {
    other = await createPartner(test);
  });

  async function expectAsMissing(ask: Ask, foreign: string, missing: string): Promise<void> {
    const answer = await ask(foreign);
    expect(withoutItsOwn(answer)).toBe(withoutItsOwn(await ask(missing)));
    expect(answer.status).toBeOneOf([404, 422]);
  }

  it.each([
    ["read", readOrder],
    ["cancel", cancel],
    ["transition", transition],
  ])("is a missing order: %s", async (_name, ask) => {
    const { id, externalOrderId } = await placeOrder(other, { externalOrderId: `theirs-${_name}` });
    const before = await dumpTables(test);
    await expectAsMissing(ask, id, MISSING.order);
    await expectAsMissing(ask, externalOrderId, "no-such-order");
    expect(await dumpTables(test)).toEqual(before);
  });

  it.each([
    ["read", readOrder],
    ["cancel", cancel],
    ["transition", transition],
  ])("is a missing test order: %s", async (_name, ask) => {
    const { id, externalOrderId } = await placeTestOrder(other, { externalOrderId: `their-test-${_name}` });
    const before = await dumpTables(test);
    await expectAsMissing(ask, id, MISSING.testOrder);
    await expectAsMissing(ask, externalOrderId, "no-such-order");
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is a missing product, to read and to order", async () => {
    await expectAsMissing(readProduct, other.productIds[0], MISSING.product);
    await expectAsMissing(orderProduct, other.productIds[0], MISSING.product);
  });

  it("is a missing product also when both connections are of one merchant", async () => {
    const { body: sibling } = await test.backOffice.post(`/api/merchants/${partner.merchantId}/connections`, {
      name: "Sibling",
    });
    const { key } = await createKey(test, sibling.id);
    expect((await test.partner(key).get("/v1/products")).body.data).toEqual([]);
    expect((await test.partner(key).get(`/v1/products/${partner.productIds[0]}`)).status).toBe(404);
  });

  it("keeps its keys and external ids apart: other connections can use the same", async () => {
    const externalOrderId = "same-name";
    const ours = await placeOrder(partner, { externalOrderId });
    const theirs = await placeOrder(other, { externalOrderId });
    expect(theirs.id).not.toBe(ours.id);
    expect((await partner.client.get(`/v1/orders/${externalOrderId}`)).body.id).toBe(ours.id);
    expect((await other.client.get(`/v1/orders/${externalOrderId}`)).body.id).toBe(theirs.id);
  });
});
