import { describe, expect, it } from "vitest";
import { checkModel } from "../../src/self-service/test-keys.ts";
import {
  anOrder,
  created,
  createKey,
  createPartner,
  createProduct,
  exposeProduct,
} from "../support/builders.ts";
import { sendFor } from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { requestKey, type Stranger, startDemo } from "../support/self-service.ts";
import { countRowsNaming, dumpTables } from "../support/tables.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { tally, times } from "../support/two-services.ts";
import { anEndpoint, ENDPOINTS } from "../support/webhooks.ts";

const DAY = { hours: 24 };

const testOrder = (stranger: Stranger, fields: object = {}) =>
  stranger.client.post("/v1/orders", anOrder(stranger, { testMode: true, ...fields }));

/** See docs/design/isolation-and-limits.md, "Test keys without a person". */
describe("POST /v1/test-keys", () => {
  it("is an unknown route where test keys are not offered", async () => {
    const test = await startServiceForTest();
    const answer = await requestKey(test);
    const unknown = await test.partnerFrom("192.0.2.1").post("/v1/test-keyz");
    expectProblem(answer, 404, "not-found");
    expect(withoutItsOwn(answer).replaceAll("test-keys", "test-keyz")).toBe(withoutItsOwn(unknown));
  });

  it("makes a test key that works at once, and says when it ends", async () => {
    const { test, model } = await startDemo();
    const { status, body } = await requestKey(test);
    expect(status).toBe(201);
    expect(body).toEqual({
      key: expect.stringMatching(/^pok_test_/),
      id: expect.stringMatching(/^key_/),
      mode: "test",
      connectionId: expect.stringMatching(/^con_/),
      createdAt: test.clock.now().toISOString(),
      expiresAt: new Date(test.clock.now().getTime() + 7 * 86_400_000).toISOString(),
    });
    const me = await test.partner(body.key).get("/v1/me");
    expect(me.body).toMatchObject({
      id: body.connectionId,
      merchant: { id: model.merchantId },
      key: { id: body.id, mode: "test", expiresAt: body.expiresAt },
    });
  });

  it("lets the stranger order the products of the demo, and no others, as test orders alone", async () => {
    const { test, model, stranger } = await startDemo();
    const hidden = await createProduct(test, model.merchantId);
    const one = await stranger();
    const products = (await one.client.get("/v1/products")).body.data;
    expect(products.map(({ id }: { id: string }) => id)).toEqual(model.productIds);
    expect((await testOrder(one)).status).toBe(201);
    expectProblem(
      await testOrder(one, { lines: [{ productId: hidden, quantity: 1 }] }),
      422,
      "validation-failed",
      { errors: expect.any(Array) },
    );
    expect((await one.client.post("/v1/orders", anOrder(one))).status).toBe(422);
    const live = { url: "https://1.1.1.1/hooks" };
    expect((await one.client.post(ENDPOINTS, live)).status).toBe(422);
    expect((await one.client.post(ENDPOINTS, anEndpoint({ mode: "test" }))).status).toBe(201);
    expectProblem(await one.client.post(ENDPOINTS, anEndpoint({ mode: "test" })), 409, "limit-reached", {
      limit: "testEndpoints",
      maximum: 1,
    });
  });

  it("shows strangers nothing of each other, or of the connection of the demo", async () => {
    const { model, stranger } = await startDemo();
    const [one, other] = [await stranger(), await stranger()];
    const order = await created(testOrder(one));
    const endpoint = await created(one.client.post(ENDPOINTS, anEndpoint({ mode: "test" })));
    const ofModel = await created(model.client.post("/v1/orders", anOrder(model, { testMode: true })));
    for (const id of [order.id, order.externalOrderId, ofModel.id])
      expect(withoutItsOwn(await other.client.get(`/v1/orders/${id}`))).toBe(
        withoutItsOwn(await other.client.get("/v1/orders/missing")),
      );
    expect((await other.client.get(`${ENDPOINTS}/${endpoint.id}`)).status).toBe(404);
    expect((await other.client.get("/v1/events")).body.data).toEqual([]);
    expect((await testOrder(other, { externalOrderId: order.externalOrderId })).status).toBe(201);
  });

  it("gives a network three keys in 24 hours; an IPv6 network counts as one", async () => {
    const { test } = await startDemo();
    const from = (host: number) => requestKey(test, `2001:db8:1:2::${host}`);
    for (const host of [1, 2]) expect((await from(host)).status).toBe(201);
    test.clock.advance({ hours: 1 });
    expect((await from(3)).status).toBe(201);
    const before = await dumpTables(test);
    const refused = await from(4);
    expectProblem(refused, 429, "rate-limited");
    expect(refused.headers["retry-after"]).toBe(String(23 * 3_600));
    expect(await dumpTables(test)).toEqual(before);
    expect((await requestKey(test, "2001:db8:1:3::1")).status).toBe(201);
    test.clock.advance({ hours: 23 });
    expect((await from(5)).status).toBe(201);
  });

  it("never makes more than the merchant may have connections, also at the same time", async () => {
    const { test, model } = await startDemo();
    const limits = { connections: 4 };
    expect(
      (await test.backOffice.request("PATCH", `/api/merchants/${model.merchantId}`, { body: { limits } }))
        .status,
    ).toBe(200);
    const answers = await Promise.all(times(12, () => requestKey(test)));
    expect(tally(answers)).toEqual({ 201: 3, 409: 9 });
    const refused = answers.find(({ status }) => status === 409);
    if (refused !== undefined)
      expectProblem(refused, 409, "limit-reached", { limit: "connections", maximum: 4 });
  });

  it("stores all of a key or nothing", async () => {
    const { test } = await startDemo();
    await test.db.query({
      name: "test-reject-keys",
      text: "alter table api_keys add constraint test_no_more check (not is_requested)",
      values: [],
    });
    const before = await dumpTables(test);
    expect((await requestKey(test)).status).toBe(500);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("gives the key a smaller allowance", async () => {
    const first = await startServiceForTest();
    const model = await createPartner(first);
    const test = await startServiceForTest({
      databaseUrl: first.context.config.databaseUrl ?? "",
      config: { selfServiceTestKeys: connectionKey(model).connectionId, rateLimitPerMinute: 600 },
    });
    const { body } = await requestKey(test);
    const me = await test.partner(body.key).get("/v1/me");
    expect(me.headers["ratelimit-policy"]).toBe('"default";q=60;w=60');
    const issued = await createKey(first, model.connectionId, { mode: "test" });
    const other = await test.partner(issued.key).get("/v1/me");
    expect(other.headers["ratelimit-policy"]).toBe('"default";q=600;w=60');
  });
});

describe("a service that offers test keys", () => {
  it("does not start if its connection does not exist, or was made by a stranger", async () => {
    const { test, stranger } = await startDemo();
    const startingWith = (connectionId: string) =>
      checkModel({ ...test.context, config: { ...test.context.config, selfServiceTestKeys: connectionId } });
    await expect(checkModel(test.context)).resolves.toBeUndefined();
    await expect(startingWith("019f1f83-aac1-73a5-9745-52489a50b5b6")).rejects.toThrow(
      "SELF_SERVICE_TEST_KEYS names con_",
    );
    await expect(startingWith(connectionKey(await stranger()).connectionId)).rejects.toThrow(
      "no connection that a person has created",
    );
  });
});

describe("the connection of a requested test key", () => {
  it("gets no other key, so that a stranger stays one for seven days", async () => {
    const { test, stranger } = await startDemo();
    const { connectionId, id } = (await stranger()) as Stranger & { id: string };
    for (const mode of ["test", "live"])
      expectProblem(
        await test.backOffice.post(`/api/connections/${connectionId}/keys`, { mode }),
        403,
        "forbidden",
      );
    expectProblem(await test.backOffice.post(`/api/keys/${id}/rotate`, {}), 403, "forbidden");
  });

  it("is removed after its end with all that it has, and nothing else is", async () => {
    const { test, model, stranger } = await startDemo();
    const receiver = await startReceiverForTest();
    const hidden = await createProduct(test, model.merchantId);
    const before = await dumpTables(test);
    const one = await stranger("198.51.100.2");
    const endpoint = { ...anEndpoint({ mode: "test" }), url: receiver.url };
    const { id } = await created(one.client.post(ENDPOINTS, endpoint));
    await one.client.post(`${ENDPOINTS}/${id}/ping`, {});
    await exposeProduct(test, one.connectionId, hidden);
    test.clock.advance({ hours: 7 * 24 - 1 });
    for (let count = 0; count < 3; count += 1) await created(testOrder(one));
    await sendFor(test, one);
    await one.client.get("/v1/events");

    test.clock.advance({ hours: 1 });
    expect((await one.client.get("/v1/me")).status).toBe(401);
    await runJob(test, "remove-ended-connections");
    await runJob(test, "clear-endpoints");
    expect((await countRowsNaming(test, connectionKey(one).connectionId))["orders"]).toBeUndefined();
    test.clock.advance({ hours: 2 });
    await runJob(test, "remove-ended-connections");
    const left = await countRowsNaming(test, connectionKey(one).connectionId);
    expect(Object.keys(left).sort()).toEqual(["audit_entries", "changes"]);
    const after = await dumpTables(test);
    for (const [table, rows] of Object.entries(before))
      if (!["audit_entries", "changes", "merchant_counts"].includes(table))
        expect(after[table], table).toEqual(rows);
    expect((await model.client.get("/v1/products")).body.data).toHaveLength(2);
    expect(await runJob(test, "remove-ended-connections")).toBe(0);
  });

  it("can be ended before its time, and counts for its network until the day is over", async () => {
    const { test, model, stranger } = await startDemo();
    const address = "203.0.113.7";
    const one = await stranger(address);
    for (let count = 0; count < 2; count += 1) await requestKey(test, address);
    await created(testOrder(one));
    const shown = await test.backOffice.get(`/api/connections/${one.connectionId}`);
    expect(shown.body.endsAt).toBe(one.expiresAt);
    const path = `/api/connections/${one.connectionId}/end`;
    for (let count = 0; count < 2; count += 1) {
      const { status, body } = await test.backOffice.post(path);
      expect([status, body.endsAt]).toEqual([200, test.clock.now().toISOString()]);
    }
    expect((await one.client.get("/v1/me")).status).toBe(401);
    const limits = { connections: 4 }; // That of the demo, and the three of the network.
    await test.backOffice.request("PATCH", `/api/merchants/${model.merchantId}`, { body: { limits } });
    expect(tally([await requestKey(test), await requestKey(test)]), "its place is free").toEqual({
      201: 1,
      409: 1,
    });
    test.clock.advance({ hours: 23 });
    await runJob(test, "remove-ended-connections");
    expect((await requestKey(test, address)).status).toBe(429);
    expect((await test.backOffice.get(`/api/connections/${one.connectionId}`)).status).toBe(200);
    test.clock.advance(DAY);
    await runJob(test, "remove-ended-connections");
    expect((await test.backOffice.get(`/api/connections/${one.connectionId}`)).status).toBe(404);
    expectProblem(await test.backOffice.post(`/api/connections/${model.connectionId}/end`), 403, "forbidden");
    expect((await test.backOffice.get(`/api/connections/${model.connectionId}`)).body.endsAt).toBeNull();
  });
});
