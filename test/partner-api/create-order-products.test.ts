import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  anOrder,
  createExposedProduct,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
} from "../support/builders.ts";
import { requestOrder } from "../support/order-requests.ts";
import { expectErrors, expectNothingHappened, withoutItsOwn } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const create = (fields?: object) => requestOrder(partner, fields);
const linesOf = (...productIds: string[]) => productIds.map((productId) => ({ productId, quantity: 1 }));

describe("POST /v1/orders, rule 5: products that are not the connection's", () => {
  it.each([
    ["does not exist", async () => "01890a5d-ac96-774b-bcce-b302099a8057"],
    ["is not exposed", () => createProduct(test, partner.merchantId)],
    ["is another merchant's", async () => (await createPartner(test)).productIds[0]],
    [
      "was withdrawn",
      async () => {
        const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
        await test.backOffice.request("DELETE", `/api/connections/${partner.connectionId}/products/${id}`);
        return id;
      },
    ],
    [
      "is exposed to another connection of the merchant only",
      async () => {
        const path = `/api/merchants/${partner.merchantId}/connections`;
        const { body: other } = await test.backOffice.post(path, { name: "Other" });
        return createExposedProduct(test, partner.merchantId, other.id);
      },
    ],
  ])("rejects a product that %s with 422, with the same text for all", async (_, makeProduct) => {
    const rejected = await create({ lines: linesOf(partner.productIds[0], await makeProduct()) });
    expectErrors(rejected, [{ pointer: "/lines/1/productId" }]);
    const missing = "00000000-0000-7000-8000-000000000000";
    const reference = await create({ lines: linesOf(partner.productIds[0], missing) });
    expect(withoutItsOwn(rejected)).toBe(withoutItsOwn(reference));
    await expectNothingHappened(test, partner);
  });

  it("reports every line that names one", async () => {
    const missing = "00000000-0000-7000-8000-000000000000";
    const rejected = await create({ lines: linesOf(missing, partner.productIds[0], missing) });
    expectErrors(rejected, [{ pointer: "/lines/0/productId" }, { pointer: "/lines/2/productId" }]);
  });

  it("accepts the product once it is exposed: the rejected request has not used up its key", async () => {
    const productId = await createProduct(test, partner.merchantId);
    const request = anOrder(partner, { lines: linesOf(productId) });
    expect((await partner.client.post("/v1/orders", request)).status).toBe(422);
    await exposeProduct(test, partner.connectionId, productId);
    expect((await partner.client.post("/v1/orders", request)).status).toBe(201);
  });
});

describe("POST /v1/orders, rule 6: discontinued products", () => {
  async function createDiscontinued(): Promise<string> {
    const id = await createExposedProduct(test, partner.merchantId, partner.connectionId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    return id;
  }

  it("rejects a discontinued product with 422 validation-failed", async () => {
    const rejected = await create({ lines: linesOf(await createDiscontinued()) });
    expectErrors(rejected, [{ pointer: "/lines/0/productId" }]);
    await expectNothingHappened(test, partner);
  });

  it("uses another text than for a missing one, and reports both at once", async () => {
    const missing = "00000000-0000-7000-8000-000000000000";
    const rejected = await create({ lines: linesOf(missing, await createDiscontinued()) });
    expectErrors(rejected, [{ pointer: "/lines/0/productId" }, { pointer: "/lines/1/productId" }]);
    const [ofMissing, ofDiscontinued] = rejected.body.errors;
    expect(ofDiscontinued.detail).toContain("discontinued");
    expect(ofDiscontinued.detail).not.toBe(ofMissing.detail);
  });

  it("does not reveal that a product is discontinued if it is not exposed", async () => {
    const id = await createProduct(test, partner.merchantId);
    await test.backOffice.request("PATCH", `/api/products/${id}`, { body: { status: "discontinued" } });
    const rejected = await create({ lines: linesOf(id) });
    expect(rejected.body.errors[0].detail).not.toContain("discontinued");
  });
});
