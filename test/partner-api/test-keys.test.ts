import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../src/merchants/api-key.ts";
import { partnerRoutes } from "../../src/partner-api/routes.ts";
import {
  anAddress,
  anOrder,
  createKey,
  createPartner,
  exposeProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { readFeedPage } from "../support/feed.ts";
import { expectProblem, withoutItsOwn } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, createDatabase, startTestService, type TestService } from "../support/test-service.ts";
import { anEndpoint, createEndpoint, uuidIn } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
/** Of the same connection, with a test key. */
let tester: Client;
let ids: Record<string, string>;
let testIds: Record<string, string>;

const deliveryOf = async (orderId: string): Promise<string> =>
  (await partner.client.get(`/v1/deliveries?orderId=${orderId}`)).body.data[0].id;
const eventOf = async (orderId: string): Promise<string> =>
  (await partner.client.get(`/v1/events?orderId=${orderId}`)).body.data[0].id;

beforeAll(async () => {
  test = await startTestService({ databaseUrl: await createDatabase() });
  partner = await createPartner(test);
  tester = test.partner((await createKey(test, partner.connectionId, { mode: "test" })).key);
  const endpoint = await createEndpoint(partner);
  const idsOf = async ({ id }: { id: string }) => ({
    orderId: id,
    endpointId: endpoint.id,
    id: partner.productIds[0],
    deliveryId: await deliveryOf(id),
    eventId: await eventOf(id),
  });
  ids = await idsOf(await placeOrder(partner));
  testIds = await idsOf(await placeTestOrder(partner));
});
afterAll(() => test.close());

/** What a test key gets for each route: with ids of a real order, and with those of a test order. */
const EXPECTED: Record<string, { real: number; test: number }> = {
  createOrder: { real: 422, test: 201 },
  searchOrders: { real: 200, test: 200 },
  getOrder: { real: 404, test: 200 },
  cancelOrder: { real: 404, test: 200 },
  transitionTestOrder: { real: 404, test: 200 },
  trackTestShipment: { real: 404, test: 404 }, // Neither order has a shipment.
  armDeliveryFault: { real: 404, test: 422 }, // There is no test endpoint.
  listDeliveryFaults: { real: 404, test: 200 },
  eraseTestOrder: { real: 404, test: 204 },
  listProducts: { real: 200, test: 200 },
  getProduct: { real: 200, test: 200 },
  getMe: { real: 200, test: 200 },
  getWebhookSources: { real: 200, test: 200 },
  callMcp: { real: 422, test: 422 }, // Without a message; test/partner-api/mcp.test.ts has its tools.
  createWebhookEndpoint: { real: 422, test: 201 },
  listWebhookEndpoints: { real: 200, test: 200 },
  getWebhookEndpoint: { real: 200, test: 200 },
  updateWebhookEndpoint: { real: 403, test: 403 },
  deleteWebhookEndpoint: { real: 403, test: 403 },
  rotateWebhookSecret: { real: 403, test: 403 },
  pingWebhookEndpoint: { real: 202, test: 202 },
  leaseDeliveries: { real: 403, test: 403 },
  acknowledgeDeliveries: { real: 403, test: 403 },
  resumeWebhookEndpoint: { real: 403, test: 403 },
  recoverDeliveries: { real: 403, test: 403 },
  listDeliveries: { real: 200, test: 200 },
  getDelivery: { real: 404, test: 200 },
  redeliverDelivery: { real: 404, test: 202 },
  createCertification: { real: 422, test: 422 }, // The endpoint is a live one.
  listCertifications: { real: 200, test: 200 },
  getCertification: { real: 404, test: 404 }, // There is none: test/certification has its runs.
  cancelCertification: { real: 404, test: 404 },
  listEvents: { real: 200, test: 200 },
  getEvent: { real: 404, test: 200 },
  getLifecycle: { real: 200, test: 200 },
  getOpenApi: { real: 200, test: 200 },
};

const bodyOf = (operationId: string, testMode: boolean): object => {
  switch (operationId) {
    case "createOrder":
      return anOrder(partner, { testMode });
    case "createWebhookEndpoint":
      return anEndpoint({ mode: testMode ? "test" : "live" });
    case "transitionTestOrder":
      return { transition: "accept" };
    case "armDeliveryFault":
      return { fault: "duplicate" };
    case "createCertification":
      return { endpointId: testIds["endpointId"] };
    case "recoverDeliveries":
      return { since: test.clock.now().toISOString() };
    case "acknowledgeDeliveries":
      return { acknowledgements: [{ deliveryId: testIds["deliveryId"], attempt: 1, status: 200 }] };
    default:
      return {};
  }
};

async function send(
  client: Client,
  { operationId, method, path, body }: (typeof partnerRoutes)[number],
  of: Record<string, string>,
) {
  // The others need the test order.
  if (operationId === "eraseTestOrder" && of === testIds)
    return client.request(method, path.replace("{orderId}", (await placeTestOrder(partner)).id));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(of[name]));
  return client.request(method, filled, body && { body: bodyOf(operationId, of === testIds) });
}

describe("each route with a test key", () => {
  it("is decided by this test", () => {
    expect(partnerRoutes.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it("changes nothing of a real order, and finds none", async () => {
    await readFeedPage({ client: tester }); // The first reader gives events their positions.
    const before = await dumpTables(test);
    for (const route of partnerRoutes) {
      const expected = EXPECTED[route.operationId]?.real;
      if (expected === 202) continue;
      expect((await send(tester, route, ids)).status, route.operationId).toBe(expected);
    }
    expect(await dumpTables(test)).toEqual(before);
  });

  it("serves test orders", async () => {
    const last = ["cancelOrder", "transitionTestOrder"];
    const routes = partnerRoutes.filter(({ operationId }) => !last.includes(operationId));
    for (const route of [
      ...routes,
      ...partnerRoutes.filter(({ operationId }) => last.includes(operationId)),
    ]) {
      const answer = await send(tester, route, testIds);
      expect(answer.status, route.operationId).toBe(
        route.operationId === "transitionTestOrder" ? 409 : EXPECTED[route.operationId]?.test,
      );
    }
  });
});

describe("creation with a test key", () => {
  it.each([
    ["no testMode", {}],
    ["testMode false", { testMode: false }],
  ])("is rejected with %s, and names the field", async (_name, fields) => {
    const before = await dumpTables(test);
    expectProblem(await tester.post("/v1/orders", anOrder(partner, fields)), 422, "validation-failed", {
      errors: [
        {
          pointer: "/testMode",
          rule: "test_key",
          value: "true",
          detail: "must be true, because the key is a test key",
        },
      ],
    });
    expect(await dumpTables(test)).toEqual(before);
  });

  it("reports the mode together with the other errors of the body, and each field once", async () => {
    const errorsOf = async (body: object) =>
      (await tester.post("/v1/orders", body)).body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(await errorsOf({})).toEqual(["/shippingAddress", "/lines", "/testMode"]);
    expect(await errorsOf(anOrder(partner, { testMode: "yes" }))).toEqual(["/testMode"]);
    for (const body of [null, [], "text", 1])
      expect((await tester.request("POST", "/v1/orders", { rawBody: JSON.stringify(body) })).status).toBe(
        422,
      );
  });

  it("does not use up the key: a live key can place the order", async () => {
    const order = anOrder(partner);
    expect((await tester.post("/v1/orders", order)).status).toBe(422);
    expect((await partner.client.post("/v1/orders", order)).status).toBe(201);
  });

  it("shares the keys and external ids of the connection", async () => {
    const { externalOrderId } = await placeOrder(partner);
    const again = anOrder(partner, { externalOrderId, testMode: true });
    // It learns nothing of the real order, also not whether an address was guessed.
    for (const request of [again, { ...again, shippingAddress: anAddress({ city: "Leeds" }) }])
      expectProblem(await tester.post("/v1/orders", request), 422, "idempotency-key-reused", {
        orderId: null,
        differences: ["/testMode"],
      });
    const order = anOrder(partner, { testMode: true });
    const { body } = await partner.client.post("/v1/orders", order);
    const replay = await tester.post("/v1/orders", order);
    expect([replay.status, replay.body.id]).toEqual([200, body.id]);
  });

  it("gets 409 for the external id of another order, which names a test order, and no real one", async () => {
    const send = (client: Client, externalOrderId: string) => {
      const headers = { "idempotency-key": `another ${externalOrderId}` };
      return client.request("POST", "/v1/orders", {
        body: anOrder(partner, { externalOrderId, testMode: true }),
        headers,
      });
    };
    const real = await placeOrder(partner);
    const rehearsed = await placeTestOrder(partner);
    const expected = [
      { client: tester, of: real, orderId: null },
      { client: partner.client, of: real, orderId: real.id },
      { client: tester, of: rehearsed, orderId: rehearsed.id },
    ];
    for (const { client, of, orderId } of expected)
      expectProblem(await send(client, of.externalOrderId), 409, "order-already-exists", {
        orderId,
        externalOrderId: of.externalOrderId,
      });
  });
});

describe("what a test key finds", () => {
  it("a real order is missing by both ids, with the response of an order that does not exist", async () => {
    const { id, externalOrderId } = await placeOrder(partner);
    const missing = await tester.get("/v1/orders/no-such-order");
    expectProblem(missing, 404, "not-found", { detail: "No such test order." });
    for (const name of [id, externalOrderId]) {
      expect(withoutItsOwn(await tester.get(`/v1/orders/${name}`))).toBe(withoutItsOwn(missing));
      expect((await tester.post(`/v1/orders/${name}/cancel`)).status).toBe(404);
    }
    expect((await partner.client.get(`/v1/orders/${id}`)).body.status).toBe("NEW");
  });

  it("the feed and the log leave out real orders, also when a filter names one", async () => {
    await exposeProduct(test, partner.connectionId, partner.productIds[0]);
    for (const list of ["/v1/events", "/v1/deliveries"]) {
      const { data } = (await tester.get(`${list}?limit=100`)).body;
      const text = JSON.stringify(data);
      expect(text).toContain("test_");
      expect(text).not.toContain("ord_");
      expect((await tester.get(`${list}?orderId=${ids["orderId"]}`)).body.data).toEqual([]);
      expect((await tester.get(`${list}?orderId=${testIds["orderId"]}`)).body.data).not.toEqual([]);
      expect(JSON.stringify((await partner.client.get(`${list}?limit=100`)).body)).toContain("ord_");
    }
    const { data } = (await tester.get(`/v1/deliveries?eventId=${ids["eventId"]}`)).body;
    expect(data).toEqual([]);
    expect((await tester.get("/v1/events?type=product.published")).body.data).toHaveLength(2);
  });

  it("its mode, beside its prefix", async () => {
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    expect(key).toMatch(/^pok_test_[A-Za-z0-9_-]{43}$/);
    expect((await test.partner(key).get("/v1/me")).body.key).toMatchObject({
      mode: "test",
      prefix: key.slice(0, 16),
    });
    expect((await partner.client.get("/v1/me")).body.key).toMatchObject({ mode: "live" });
  });
});

describe("a change of a live endpoint", () => {
  it("needs a live key, and leaves the endpoint as it is with another", async () => {
    const path = `/v1/webhook-endpoints/${ids["endpointId"]}`;
    expectProblem(await tester.request("DELETE", path), 403, "forbidden", {
      detail: "A test key does not allow this operation. Use a live key.",
    });
    expect((await tester.get(path)).status).toBe(200);
  });

  it("is 404 for an endpoint that does not exist, as its read is", async () => {
    const missing = "/v1/webhook-endpoints/whe_01m7y7np16fe68bxp4h91tdmdn";
    for (const method of ["GET", "DELETE"])
      expectProblem(await tester.request(method, missing), 404, "not-found");
  });
});

describe("the mode of a key", () => {
  const keys = () => `/api/connections/${partner.connectionId}/keys`;

  it("is shown in lists and in the response to a revocation", async () => {
    const { id } = await createKey(test, partner.connectionId, { mode: "test", name: "rehearsal" });
    const { body } = await test.backOffice.get(`${keys()}?limit=100`);
    expect(body.data.at(-1)).toMatchObject({ id, mode: "test" });
    expect(body.data[0]).toMatchObject({ mode: "live" });
    expect((await test.backOffice.post(`/api/keys/${id}/revoke`)).body.mode).toBe("test");
  });

  it("is live or test, and nothing else", async () => {
    for (const mode of ["TEST", "sandbox", "", true])
      expect((await test.backOffice.post(keys(), { mode })).status, String(mode)).toBe(422);
  });

  it("is stored, so that a key without a mode in its text stays live", async () => {
    const { id } = await createKey(test, partner.connectionId);
    const key = `pok_${"o".repeat(43)}`;
    await test.db.query({
      name: "test-set-key-hash",
      text: "update api_keys set key_hash = decode($2, 'hex') where id = $1",
      values: [uuidIn("key", id), hashKey(key)],
    });
    expect((await test.partner(key).get("/v1/me")).body.key).toMatchObject({ id, mode: "live" });
    expect((await test.partner(key).post("/v1/orders", anOrder(partner))).status).toBe(201);
  });

  it("is in the audit log", async () => {
    const { id } = await createKey(test, partner.connectionId, { mode: "test" });
    const [entry] = (await test.backOffice.get(`/api/audit-entries?subjectId=${id}`)).body.data;
    expect(entry.details).toMatchObject({ mode: "test" });
  });
});
