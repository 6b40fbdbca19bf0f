import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acceptDueOrders } from "../../src/orders/deadlines/accept-orders.ts";
import {
  createKey,
  createPartner,
  createProduct,
  exposeProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { sendFor } from "../support/deliveries.ts";
import { received, startReceiverForTest } from "../support/dispatch.ts";
import { cancelOrder, connectionKey, expectErrors, expectProblem } from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import {
  anEndpoint,
  createEndpoint,
  ENDPOINTS,
  endpointPath,
  pauseEndpoint,
  readRows,
} from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
/** Of the same connection, with a test key. */
let tester: Client;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
});
beforeEach(async () => {
  partner = await createPartner(test);
  tester = test.partner((await createKey(test, partner.connectionId, { mode: "test" })).key);
});
afterAll(() => test.close());

const createTestEndpoint = async (fields: object = {}) =>
  (await tester.post(ENDPOINTS, anEndpoint({ mode: "test", ...fields }))).body;

/** See docs/design/isolation-and-limits.md, "Live and test keys". */
describe("an endpoint of a test key", () => {
  it("is a test endpoint, which the request must state", async () => {
    const created = await tester.post(ENDPOINTS, anEndpoint({ mode: "test" }));
    expect([created.status, created.body.mode]).toEqual([201, "test"]);
    expect((await tester.get(endpointPath(created.body.id))).body.mode).toBe("test");
    for (const fields of [{}, { mode: "live" }]) {
      const refused = await tester.post(ENDPOINTS, anEndpoint(fields));
      expectErrors(refused, [{ pointer: "/mode" }]);
      expect(refused.body.errors[0].detail).toBe("must be test, because the key is a test key");
    }
    for (const mode of ["TEST", "", null, true])
      expectErrors(await tester.post(ENDPOINTS, anEndpoint({ mode })), [{ pointer: "/mode" }]);
    expect((await tester.get(ENDPOINTS)).body.data).toHaveLength(1);
  });

  it("can be changed, paused, resumed, recovered, rotated and deleted with it", async () => {
    const { id } = await createTestEndpoint();
    const toLive = await tester.request("PATCH", endpointPath(id), { body: { mode: "live" } });
    expectErrors(toLive, [{ pointer: "/mode" }]);
    const changed = await tester.request("PATCH", endpointPath(id), { body: { description: "Laptop" } });
    expect(changed.body).toMatchObject({ description: "Laptop", mode: "test" });
    await pauseEndpoint(test, id);
    expect((await tester.post(endpointPath(id, "resume"))).body.status).toBe("active");
    const since = test.clock.now().toISOString();
    expect((await tester.post(endpointPath(id, "recover"), { since })).status).toBe(202);
    expect((await tester.post(endpointPath(id, "rotate-secret"))).body.secret).toMatch(/^whsec_/);
    expect((await tester.post(endpointPath(id, "ping"))).status).toBe(202);
    const entries = (await test.backOffice.get(`/api/audit-entries?subjectId=${id}`)).body.data;
    expect(entries.at(-1)).toMatchObject({ action: "createWebhookEndpoint", details: { mode: "test" } });
    expect((await tester.request("DELETE", endpointPath(id))).status).toBe(204);
    expectProblem(await tester.request("DELETE", endpointPath(id)), 404, "not-found");
  });

  it("can be changed with a live key too, and the live ones with a live key only", async () => {
    const { id } = await createTestEndpoint();
    expect((await partner.client.request("DELETE", endpointPath(id))).status).toBe(204);
    const live = await createEndpoint(partner);
    expect(live.mode).toBe("live");
    const path = (operation: string) => endpointPath(live.id, operation);
    for (const request of [
      tester.request("PATCH", endpointPath(live.id), { body: { url: "https://1.1.1.1/mine" } }),
      tester.request("DELETE", endpointPath(live.id)),
      tester.post(path("rotate-secret"), { overlapHours: 0 }),
      tester.post(path("resume")),
      tester.post(path("recover"), { since: test.clock.now().toISOString() }),
    ])
      expectProblem(await request, 403, "forbidden");
    expect((await partner.client.get(endpointPath(live.id))).body).toEqual({ ...live, secret: undefined });
  });

  it("of another connection is missing", async () => {
    const { id } = await createTestEndpoint();
    const other = await createPartner(test);
    const stranger = test.partner((await createKey(test, other.connectionId, { mode: "test" })).key);
    expectProblem(await stranger.request("DELETE", endpointPath(id)), 404, "not-found");
  });
});

describe("what a test endpoint receives", () => {
  it("is every event of test orders that it names, and nothing else", async () => {
    const [testReceiver, liveReceiver] = [await startReceiverForTest(), await startReceiverForTest()];
    await createTestEndpoint({ url: testReceiver.url });
    await createEndpoint(partner, { url: liveReceiver.url });
    const { id: testOrder } = await placeTestOrder(partner);
    await applied(partner, testOrder, "ship");
    const { id: order } = await placeOrder(partner);
    await cancelOrder(partner, order);
    await exposeProduct(test, partner.connectionId, await createProduct(test, partner.merchantId));
    await sendFor(test, partner);
    const typesAbout = (receiver: typeof testReceiver, orderId?: string) =>
      received(receiver)
        .filter((event) => event.orderId === orderId)
        .map(({ type }) => type);
    const rehearsed = ["order.created", "order.shipmentCreated"];
    expect(typesAbout(testReceiver, testOrder)).toEqual(rehearsed);
    expect(testReceiver.requests).toHaveLength(2);
    expect(typesAbout(liveReceiver, testOrder)).toEqual(rehearsed);
    expect(typesAbout(liveReceiver, order)).toEqual(["order.created", "order.canceled"]);
    expect(typesAbout(liveReceiver)).toEqual(["product.published"]);
    expect(
      (await tester.get("/v1/deliveries")).body.data.map(({ orderId }: { orderId: string }) => orderId),
    ).toEqual(expect.arrayContaining([testOrder, null]));
  });

  it("are opt-in events of test orders, and those of real orders are not even stored for it", async () => {
    const receiver = await startReceiverForTest();
    const { id } = await createTestEndpoint({
      url: receiver.url,
      eventTypes: ["order.accepted", "order.inProgress"],
    });
    await applied(partner, (await placeTestOrder(partner)).id, "ship");
    await placeOrder(partner);
    test.clock.advance({ hours: 1, minutes: 59 });
    await sendFor(test, partner);
    expect(received(receiver).map(({ type }) => type)).toEqual(["order.inProgress"]);
    test.clock.advance({ minutes: 2 });
    expect(await acceptDueOrders(test.context, [connectionKey(partner)], [])).toBe(1);
    expect((await readEvents(test, partner.connectionId)).map(({ type }) => type)).not.toContain(
      "order.accepted",
    );
    expect((await readRows(test, "deliveries", id)).map(({ event_type }) => event_type)).toEqual([
      "order.inProgress",
    ]);
  });
});

describe("the limits of test endpoints", () => {
  const setLimits = (limits: object) =>
    test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });

  it("are their own, so that a test key cannot use up those of live endpoints", async () => {
    await setLimits({ endpoints: 1, testEndpoints: 2 });
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => tester.post(ENDPOINTS, anEndpoint({ mode: "test" }))),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(3);
    for (const response of refused)
      expectProblem(response, 409, "limit-reached", { limit: "testEndpoints", maximum: 2 });
    await createEndpoint(partner);
    expectProblem(await partner.client.post(ENDPOINTS, anEndpoint()), 409, "limit-reached", {
      limit: "endpoints",
      maximum: 1,
    });
    const usage = (await test.backOffice.get(`/api/connections/${partner.connectionId}/usage`)).body;
    expect(usage).toMatchObject({ endpoints: { used: 1 }, testEndpoints: { used: 2 } });
  });

  it("count creations within an hour on their own", async () => {
    await setLimits({ endpointCreationsPerHour: 1 });
    await createTestEndpoint();
    expectProblem(await tester.post(ENDPOINTS, anEndpoint({ mode: "test" })), 409, "limit-reached", {
      limit: "endpointCreationsPerHour",
      maximum: 1,
    });
    await createEndpoint(partner);
  });
});
