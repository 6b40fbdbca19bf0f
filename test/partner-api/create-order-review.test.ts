import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, anOrder, createPartner, type Partner } from "../support/builders.ts";
import { requestOrder } from "../support/order-requests.ts";
import { readOrder, readOrderEvents, readStoredOrders } from "../support/orders.ts";
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

const create = (fields?: object, by = partner) => requestOrder(by, fields);

describe("POST /v1/orders, additional review", () => {
  const policies: [string, object, object, object][] = [
    ["more units than maxQuantity", { maxQuantity: 5 }, { quantities: [3, 3] }, { quantities: [3, 2] }],
    [
      "more worth than maxOrderValue",
      { maxOrderValue: { amount: "30.00", currency: "EUR" } },
      { quantities: [4] },
      { quantities: [3] },
    ],
    [
      "another country than those of countries",
      { countries: ["GB", "us"] },
      { countryCode: "fr" },
      { countryCode: "Us" },
    ],
  ];

  function fieldsOf(
    by: Partner,
    { quantities = [1], countryCode = "GB" }: { quantities?: number[]; countryCode?: string },
  ) {
    const lines = quantities.map((quantity) => ({ productId: by.productIds[0], quantity }));
    return { lines, shippingAddress: anAddress({ countryCode }) };
  }

  describe.each([
    ["real", false],
    ["test", true],
  ])("of a %s order", (_kind, testMode) => {
    it.each(policies)("starts in PROCESSING with %s", async (_, reviewPolicy, outside) => {
      const reviewed = await createPartner(test, { reviewPolicy });
      const { body } = await create({ ...fieldsOf(reviewed, outside), testMode }, reviewed);
      expect(body.status).toBe("PROCESSING");
      expect(await readOrder(reviewed, body.id)).toMatchObject({
        status: "PROCESSING",
        cancelableUntil: null,
      });
      const [event] = await readOrderEvents(test, reviewed);
      expect(event).toMatchObject({ type: "order.created", data: { order: { status: "PROCESSING" } } });
    });

    it.each(policies)(
      "begins in NEW at the limit, not with %s",
      async (_, reviewPolicy, _outside, atLimit) => {
        const reviewed = await createPartner(test, { reviewPolicy });
        const { body } = await create({ ...fieldsOf(reviewed, atLimit), testMode }, reviewed);
        expect(body.status).toBe("NEW");
      },
    );
  });

  it("replays an order under the policy it was placed with", async () => {
    const request = anOrder(partner);
    await partner.client.post("/v1/orders", request);
    const reviewPolicy = { countries: ["FR"] };
    await test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
      body: { reviewPolicy },
    });
    expect((await partner.client.post("/v1/orders", request)).body.status).toBe("NEW");
    expect((await create()).body.status).toBe("PROCESSING");
    expect(await readStoredOrders(test, partner)).toHaveLength(2);
  });
});
