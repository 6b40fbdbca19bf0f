import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type BackOfficeRequest,
  createMerchantResources,
  requestsOf,
} from "../support/back-office-resources.ts";
import type { Partner } from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let requests: BackOfficeRequest[];
beforeAll(async () => {
  test = await startTestService();
  const resources = await createMerchantResources(test);
  partner = resources.partner;
  requests = requestsOf(resources);
});
afterAll(() => test.close());

describe("the operator's token", () => {
  it("is required by every route, and nothing is read or changed without it", async () => {
    expect(requests.length).toBeGreaterThanOrEqual(15);
    const before = await dumpTables(test);
    const tokens = {
      missing: undefined,
      wrong: "not-the-operators-token",
      "cut short": OPERATOR_TOKEN.slice(0, -1),
      "with more": `${OPERATOR_TOKEN}x`,
      "in other letters": OPERATOR_TOKEN.toUpperCase(),
      "a partner's key": partner.key,
    };
    for (const [title, token] of Object.entries(tokens)) {
      const challenge = `Bearer realm="partner-orders"${token === undefined ? "" : ', error="invalid_token"'}`;
      for (const { method, path, options } of requests) {
        const answer = await test.backOfficeAs(token).request(method, path, options);
        expect(answer.status, `${method} ${path}, ${title}`).toBe(401);
        expect(answer.headers["www-authenticate"]).toBe(challenge);
        expect(answer.body).toMatchObject({ title: "Unauthorized", status: 401, instance: path });
      }
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("opens every route", async () => {
    // Only the connection of a stranger can be ended.
    const opened = requests.filter(({ path }) => !path.endsWith("/end"));
    for (const { method, path, options } of opened) {
      const { status } = await test.backOffice.request(method, path, options);
      expect([401, 403], `${method} ${path}`).not.toContain(status);
    }
  });

  it.each([
    ["Basic", `Basic ${Buffer.from(`operator:${OPERATOR_TOKEN}`).toString("base64")}`],
    ["no scheme", OPERATOR_TOKEN],
    ["an empty token", "Bearer "],
    ["two tokens", `Bearer ${OPERATOR_TOKEN} ${OPERATOR_TOKEN}`],
  ])("is accepted as a Bearer token only: %s is rejected", async (_title, authorization) => {
    const answer = await test.backOfficeAs().get("/api/merchants", { headers: { authorization } });
    expect(answer.status).toBe(401);
  });

  it("is not taken from x-api-key, which is the partners' header", async () => {
    const headers = { "x-api-key": OPERATOR_TOKEN };
    expect((await test.backOfficeAs().get("/api/merchants", { headers })).status).toBe(401);
  });

  it("is not valid for a partner", async () => {
    expect((await test.partner(OPERATOR_TOKEN).get("/v1/me")).status).toBe(401);
  });

  it("is checked after the route is matched, and before the body is read", async () => {
    expect((await test.backOfficeAs().get("/api/nowhere")).status).toBe(404);
    expect((await test.backOfficeAs().request("DELETE", "/api/merchants")).status).toBe(404);
    const { status } = await test.backOfficeAs("wrong").request("POST", "/api/merchants", { rawBody: "{" });
    expect(status).toBe(401);
  });
});

describe("the two listeners", () => {
  it("share no route: on each, the other's paths match no route, with any key", async () => {
    const [order, merchant] = ["/v1/orders/none", `/api/merchants/${partner.merchantId}`];
    const answers = [
      await test.backOffice.get(order),
      await test.backOfficeAs(partner.key).get(order),
      await partner.client.get(merchant),
      await test.partner(OPERATOR_TOKEN).get(merchant),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body.detail).toBe(`No route matches GET ${body.instance}.`);
    }
  });
});
