import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CONNECTION_LIMITS } from "../../src/merchants/limits.ts";
import { personOf } from "../support/back-office-resources.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { anEndpoint, createEndpoint, ENDPOINTS, endpointPath } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const path = () => `/api/connections/${partner.connectionId}`;
const setLimits = (limits: object) => test.backOffice.request("PATCH", path(), { body: { limits } });
const NO_OVERRIDES = Object.fromEntries(Object.keys(CONNECTION_LIMITS).map((name) => [name, null]));

describe("the limits of a connection", () => {
  it("are the defaults until the operator sets others, and again when it sets null", async () => {
    expect((await test.backOffice.get(path())).body.limits).toEqual(NO_OVERRIDES);
    const changed = await setLimits({ endpoints: 3, apiKeys: 7 });
    expect(changed.body.limits).toEqual({ ...NO_OVERRIDES, endpoints: 3, apiKeys: 7 });
    await setLimits({ endpoints: null });
    expect((await test.backOffice.get(path())).body.limits).toEqual({ ...NO_OVERRIDES, apiKeys: 7 });
  });

  it("do not change with other fields", async () => {
    await setLimits({ endpoints: 3 });
    const { body } = await test.backOffice.request("PATCH", path(), { body: { name: "Renamed" } });
    expect(body).toMatchObject({ name: "Renamed", limits: { endpoints: 3 } });
  });

  it.each([-1, 1.5, "3", 10_000_001])("cannot be %s", async (value) => {
    expectErrors(await setLimits({ endpoints: value }), [{ pointer: "/limits/endpoints" }]);
  });

  it("are changed by the operator only: not by the merchant, which may change the rest", async () => {
    const merchant = personOf(test, partner.merchantId);
    const patch = (body: object) => merchant.request("PATCH", path(), { body });
    expectProblem(await patch({ limits: { endpoints: 1_000 } }), 403, "forbidden");
    expect((await patch({ name: "Ours" })).status).toBe(200);
    expect((await test.backOffice.get(path())).body.limits).toEqual(NO_OVERRIDES);
  });
});

describe("beyond a limit the response is 409 with its name and value", () => {
  it("endpoints: as many as the operator has set, also when they come at once", async () => {
    await setLimits({ endpoints: 3 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => partner.client.post(ENDPOINTS, anEndpoint())),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const refused of responses.filter(({ status }) => status !== 201))
      expectProblem(refused, 409, "limit-reached", { limit: "endpoints", maximum: 3 });
  });

  it("endpoints created within an hour: deleting them does not help", async () => {
    await setLimits({ endpointCreationsPerHour: 4 });
    for (let count = 0; count < 4; count += 1) {
      const { id } = await createEndpoint(partner);
      await partner.client.request("DELETE", endpointPath(id));
    }
    const refused = await partner.client.post(ENDPOINTS, anEndpoint());
    expectProblem(refused, 409, "limit-reached", { limit: "endpointCreationsPerHour", maximum: 4 });
    test.clock.advance({ hours: 1, ms: 1 });
    await createEndpoint(partner);
  });

  it("keys: valid ones count, also when they come at once", async () => {
    await setLimits({ apiKeys: 4 });
    const issue = () => test.backOffice.post(`${path()}/keys`, {});
    const { body: key } = await issue();
    await test.backOffice.post(`/api/keys/${key.id}/revoke`);
    const responses = await Promise.all(Array.from({ length: 6 }, issue));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3); // One key is the partner's own.
    for (const refused of responses.filter(({ status }) => status !== 201))
      expectProblem(refused, 409, "limit-reached", { limit: "apiKeys", maximum: 4 });
  });
});

describe("GET /api/connections/{id}/usage", () => {
  it("returns for each limit how much is used and the maximum", async () => {
    await setLimits({ apiKeys: 9 });
    const { id } = await createEndpoint(partner);
    await createEndpoint(partner);
    await partner.client.request("DELETE", endpointPath(id));
    const { status, body } = await test.backOffice.get(`${path()}/usage`);
    expect(status).toBe(200);
    expect(body).toEqual({
      endpoints: { used: 1, maximum: 200, default: 200 },
      testEndpoints: { used: 0, maximum: 20, default: 20 },
      endpointCreationsPerHour: { used: 2, maximum: 1_000, default: 1_000 },
      testOrders: { used: 0, maximum: 20_000, default: 20_000 },
      testOrderTransitions: { used: null, maximum: 1_000, default: 1_000 },
      redeliveriesPerDay: { used: null, maximum: 100, default: 100 },
      deliveryAttempts: { used: null, maximum: 500, default: 500 },
      apiKeys: { used: 1, maximum: 9, default: 200 },
    });
  });
});
