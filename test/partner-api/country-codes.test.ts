import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hashOrderRequest, normalizeOrderRequest } from "../../src/orders/creation/order-request.ts";
import { anAddress, anOrder, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { aRate, createFacility } from "../support/facilities.ts";
import { requestOrder, UNKNOWN_PRODUCT } from "../support/order-requests.ts";
import { expectNothingHappened, expectProblem, readOrder } from "../support/orders.ts";
import { readDetail } from "../support/real-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const UNASSIGNED = { rule: "country", detail: "must be an assigned ISO 3166-1 country code, or XK" };
const HINT = {
  rule: "country",
  use: ["GB"],
  insteadOf: "UK",
  detail: `${UNASSIGNED.detail}; use GB instead of UK`,
};
const to = (countryCode: string) => ({ shippingAddress: anAddress({ countryCode }) });

/** The response reports exactly these errors. */
const expectErrors = (answer: Answer, errors: object[]) => {
  expectProblem(answer, 422, "validation-failed", { errors: expect.any(Array) });
  expect(answer.body.errors).toEqual(errors);
};

describe("the country of an order", () => {
  it.each([
    ["UK", HINT],
    ["uk", HINT],
    ["ZZ", UNASSIGNED],
    ["EU", UNASSIGNED],
  ])("must be assigned: %s is rejected with its position, and nothing is stored", async (code, error) => {
    const answer = await requestOrder(partner, to(code));
    expectErrors(answer, [{ pointer: "/shippingAddress/countryCode", ...error }]);
    expectErrors(await requestOrder(partner, { ...to(code), testMode: true }), [
      { pointer: "/shippingAddress/countryCode", ...error },
    ]);
    await expectNothingHappened(test, partner);
  });

  it.each(["XK", "xk", "ss", "AX"])("can be %s", async (code) => {
    const { body } = await requestOrder(partner, to(code));
    expect((await readOrder(partner, body.id)).shippingAddress.countryCode).toBe(code.toUpperCase());
  });

  it("is reported together with products that cannot be ordered", async () => {
    const answer = await requestOrder(partner, { ...to("UK"), ...UNKNOWN_PRODUCT });
    expectErrors(answer, [
      { pointer: "/shippingAddress/countryCode", ...HINT },
      { pointer: "/lines/0/productId", rule: "not_found", kind: "product", detail: expect.any(String) },
    ]);
  });

  it("does not use up the key: the corrected request is accepted", async () => {
    const request = anOrder(partner, to("UK"));
    expect((await partner.client.post("/v1/orders", request)).status).toBe(422);
    expect((await partner.client.post("/v1/orders", { ...request, ...to("GB") })).status).toBe(201);
  });

  it("may have been any two letters: such an order is readable, and its creation is still replayed", async () => {
    const request = anOrder(partner, to("GB"));
    const { id } = await placeOrder(partner, request);
    const sent = { ...request, ...to("UK") };
    await test.db.query({
      name: "test-store-unassigned-code",
      text: `
        with sent as (
          update order_requests set request_hash = $1 where external_order_id = $2 returning merchant_id, order_id)
        update orders o set country_code = 'UK' from sent where o.merchant_id = sent.merchant_id and o.id = sent.order_id`,
      values: [hashOrderRequest(normalizeOrderRequest(sent)), request.externalOrderId],
    });
    expect((await readOrder(partner, id)).shippingAddress.countryCode).toBe("UK");
    expect((await readDetail(test, id)).shippingAddress.countryCode).toBe("UK");
    const list = await test.backOffice.get(`/api/orders?connectionId=${partner.connectionId}`);
    expect(list.body.data).toMatchObject([to("UK")]);
    const retry = await partner.client.post("/v1/orders", sent);
    expect([retry.status, retry.body.id]).toEqual([200, id]);
    const other = await partner.client.post("/v1/orders", { ...sent, ...to("EL") });
    const differences = ["/shippingAddress/countryCode"];
    expectProblem(other, 422, "idempotency-key-reused", { orderId: id, differences });
  });
});

describe("countries in the back office", () => {
  const facility = { name: "Leeds", countryCode: "UK" };
  it.each<[string, string, () => [string, string, object?]]>([
    ["a facility", "/countryCode", () => ["POST", "/api/facilities", facility]],
    [
      "a review policy",
      "/reviewPolicy/countries/1",
      () => [
        "PATCH",
        `/api/connections/${partner.connectionId}`,
        { reviewPolicy: { countries: ["DE", "UK"] } },
      ],
    ],
  ])("of %s must be assigned", async (_, pointer, request) => {
    const [method, path, body] = request();
    expectErrors(await test.backOffice.request(method, path, { body }), [{ pointer, ...HINT }]);
  });

  it("of rates must be assigned", async () => {
    const id = await createFacility(test, { rates: [] });
    const body = { rates: [aRate(), aRate({ country: "uk" })] };
    const answer = await test.backOffice.request("PUT", `/api/facilities/${id}/rates`, { body });
    expectErrors(answer, [{ pointer: "/rates/1/countryCode", ...HINT }]);
  });
});
