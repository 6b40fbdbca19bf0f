import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  anOrder,
  createPartner,
  createProduct,
  type Partner,
  placeOrder,
  placeTestOrder,
} from "../support/builders.ts";
import { expectErrors, expectProblem, readOrder, withoutItsOwn } from "../support/orders.ts";
import { applied, eventsOf, SANDBOX_TRANSITIONS, typesOf } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { aTestOrder, createTestOrder, testOrdersPath } from "../support/test-orders.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
});
afterAll(() => test.close());

const post = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  test.backOffice.post(testOrdersPath(partner), body, { headers });
const move = (orderId: string, name: string, fields: object = {}): Promise<Answer> =>
  test.backOffice.post(testOrdersPath(partner, `/${orderId}/transitions`), { transition: name, ...fields });
const read = (orderId: string): Promise<Answer> =>
  test.backOffice.get(testOrdersPath(partner, `/${orderId}`));
const setLimits = (limits: object) =>
  test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, { body: { limits } });
async function entriesAbout(orderId: string, action: string) {
  const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${orderId}&action=${action}`);
  return body.data;
}

/** Sends a request that must be rejected and must change nothing. */
async function rejected(send: () => Promise<Answer>): Promise<Answer> {
  const before = await dumpTables(test);
  const answer = await send();
  expect(await dumpTables(test)).toEqual(before);
  return answer;
}

describe("POST /api/connections/{id}/test-orders", () => {
  it("creates what the partner would have created, with its event and its deliveries", async () => {
    await createEndpoint(partner);
    const { order, expiresAt, transitions } = await createTestOrder(test.backOffice, partner, {
      externalOrderId: "web-1",
      metadata: { color: "red" },
    });
    expect(order).toMatchObject({ testMode: true, status: "NEW", externalOrderId: "web-1" });
    expect(order).toEqual(await readOrder(partner, "web-1"));
    expect(expiresAt).toBe(new Date(test.clock.now().getTime() + 7_200_000).toISOString());
    expect(transitions.map(({ transition: name }: { transition: string }) => name)).toEqual(
      SANDBOX_TRANSITIONS,
    );
    const [event, ...others] = await eventsOf(test, order.id);
    expect([event?.type, event?.testMode, event?.data.order, others]).toEqual([
      "order.created",
      true,
      order,
      [],
    ]);
    const { body } = await partner.client.get("/v1/deliveries?orderId=web-1");
    expect(body.data).toMatchObject([{ eventId: event?.id, orderId: order.id, status: "pending" }]);
    expect(await entriesAbout(order.id, "createTestOrder")).toMatchObject([
      { connectionId: partner.connectionId, subjectIds: [order.id], details: { status: "NEW" } },
    ]);
  });

  it("has the key space of the connection", async () => {
    const body = aTestOrder(partner, { externalOrderId: "web-1" });
    const first = await post(body);
    const again = await post(body);
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([200, "true"]);
    expect(again.body).toEqual(first.body);
    const byPartner = await partner.client.post("/v1/orders", { ...body, testMode: true });
    expect([byPartner.status, byPartner.body.id]).toEqual([200, first.body.order.id]);
    const another = { ...body, lines: [{ productId: partner.productIds[1], quantity: 1 }] };
    expectProblem(await rejected(() => post(another)), 422, "idempotency-key-reused", {
      orderId: first.body.order.id,
      differences: ["/lines/0/productId"],
    });
    expectProblem(await rejected(() => post(body, { "idempotency-key": "k" })), 409, "order-already-exists", {
      orderId: first.body.order.id,
      externalOrderId: "web-1",
    });
    // The same request for a real order is another request.
    expectProblem(
      await rejected(() => partner.client.post("/v1/orders", body)),
      422,
      "idempotency-key-reused",
      { orderId: first.body.order.id, differences: ["/testMode"] },
    );
    expect(await entriesAbout(first.body.order.id, "createTestOrder")).toHaveLength(1);
  });

  it("creates another order for each request without a key", async () => {
    const orders = [await post(aTestOrder(partner)), await post(aTestOrder(partner))];
    expect(orders.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(orders.map(({ body }) => body.order.id)).size).toBe(2);
    for (const { body } of orders) expect(body.order.externalOrderId).toBeNull();
  });

  it("creates one order for twenty requests at once, also with those of the partner", async () => {
    const body = aTestOrder(partner);
    const headers = { "idempotency-key": "one" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        number % 2 === 0
          ? post(body, headers)
          : partner.client.post("/v1/orders", { ...body, testMode: true }, { headers }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    const ids = new Set(answers.map((answer) => answer.body.order?.id ?? answer.body.id));
    expect(ids.size).toBe(1);
    const [id = ""] = ids;
    expect(typesOf(await eventsOf(test, id))).toEqual(["order.created"]);
    expect((await entriesAbout(id, "createTestOrder")).length).toBeLessThanOrEqual(1);
  });

  it("starts in review where a real order would", async () => {
    partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const lines = [{ productId: partner.productIds[0], quantity: 2 }];
    const { order } = await createTestOrder(test.backOffice, partner, { lines });
    expect([order.status, order.cancelableUntil]).toEqual(["PROCESSING", null]);
  });

  it("rejects what the partner API rejects", async () => {
    const theirs = await createProduct(test, partner.merchantId);
    const line = { productId: theirs, quantity: 1 };
    for (const [body, pointer] of [
      [aTestOrder(partner, { lines: [] }), "/lines"],
      [aTestOrder(partner, { lines: [line] }), "/lines/0/productId"],
      [aTestOrder(partner, { externalOrderId: ".." }), "/externalOrderId"],
      [{ lines: aTestOrder(partner).lines }, "/shippingAddress"],
    ] as const)
      expectErrors(await rejected(() => post(body)), [{ pointer }]);
    expectErrors(await rejected(() => post(aTestOrder(partner), { "idempotency-key": "x".repeat(256) })), [
      { header: "idempotency-key" },
    ]);
    expectErrors(await rejected(() => post(aTestOrder(partner, { externalorderid: "a" }))), [
      { pointer: "/externalorderid" },
    ]);
  });

  it("ends at the limit of the connection", async () => {
    await setLimits({ testOrders: 2 });
    await placeTestOrder(partner);
    await createTestOrder(test.backOffice, partner, { externalOrderId: "second" });
    const reached = { limit: "testOrders", maximum: 2 };
    expectProblem(await rejected(() => post(aTestOrder(partner))), 409, "limit-reached", reached);
    expect((await post(aTestOrder(partner, { externalOrderId: "second" }))).status).toBe(200);
  });
});

describe("GET /api/connections/{id}/test-orders", () => {
  const ids = async (query = "") => {
    const { status, body } = await test.backOffice.get(testOrdersPath(partner, query));
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data.map(({ id }: { id: string }) => id);
  };

  it("lists those of the connection that have not expired, newest first", async () => {
    const expired = await placeTestOrder(partner);
    test.clock.advance({ ms: 7_200_000 });
    const [one, two] = [await placeTestOrder(partner), await createTestOrder(test.backOffice, partner)];
    await placeOrder(partner);
    await placeTestOrder(await createPartner(test));
    await applied(partner, one.id, "hold");
    expect(await ids()).toEqual([two.order.id, one.id]);
    expect(await ids("?status=NEW&onHold=true")).toEqual([one.id]);
    expect(await ids("?onHold=false")).toEqual([two.order.id]);
    expect(await ids("?status=COMPLETED")).toEqual([]);
    const first = (await test.backOffice.get(testOrdersPath(partner, "?limit=1"))).body;
    expect(first.data).toEqual([two.order]);
    expect(await ids(`?limit=1&cursor=${first.nextCursor}`)).toEqual([one.id]);
    expect((await entriesAbout(one.id, "listTestOrders")).length).toBeGreaterThan(0);
    expectProblem(await read(expired.id), 404, "not-found");
    expectProblem(await test.backOffice.get(`/api/orders/${expired.id}/events`), 404, "not-found");
  });

  it.each(["status=OLD", "onHold=1", "cursor=abc", "limit=0", "q=x"])("rejects %s", async (query) => {
    const [parameter = ""] = query.split("=");
    expectErrors(await test.backOffice.get(testOrdersPath(partner, `?${query}`)), [{ parameter }]);
  });
});

describe("POST /api/connections/{id}/test-orders/{orderId}/cancel", () => {
  const cancel = (orderId: string) => test.backOffice.post(testOrdersPath(partner, `/${orderId}/cancel`));

  it("cancels as the partner would, once", async () => {
    const { order } = await createTestOrder(test.backOffice, partner, { externalOrderId: "a/b" });
    const answers = await Promise.all(["a%2Fb", order.id, order.id].map(cancel));
    for (const { status, body } of answers) expect([status, body.order.status]).toEqual([200, "CANCELED"]);
    expect(typesOf(await eventsOf(test, order.id))).toEqual(["order.created", "order.canceled"]);
    expect(await entriesAbout(order.id, "cancelTestOrder")).toHaveLength(1);
  });

  it("rejects what the partner cannot cancel", async () => {
    const { order } = await createTestOrder(test.backOffice, partner);
    await move(order.id, "process");
    expectProblem(await rejected(() => cancel(order.id)), 409, "order-not-cancelable", {
      orderStatus: "PROCESSING",
    });
  });
});

describe("an order that is no test order of the connection", () => {
  it("gets the response of a missing one from every route", async () => {
    const other = await createPartner(test);
    const foreign = (await placeTestOrder(other)).id;
    const real = (await placeOrder(partner, { externalOrderId: "real" })).id;
    const erased = (await placeTestOrder(partner)).id;
    test.clock.advance({ ms: 7_200_000 });
    const before = await dumpTables(test);
    const missing = "test_01m7y7np16fe68bxp4h91tdmdn";
    const requests: ((id: string) => Promise<Answer>)[] = [
      read,
      (id) => move(id, "cancel"),
      (id) => test.backOffice.post(testOrdersPath(partner, `/${id}/cancel`)),
    ];
    for (const send of requests) {
      const nowhere = await send(missing);
      expectProblem(nowhere, 404, "not-found");
      for (const id of [foreign, real, "real", erased])
        expect(withoutItsOwn(await send(id)), id).toBe(withoutItsOwn(nowhere));
    }
    expect(await dumpTables(test)).toEqual(before);
    expect((await partner.client.post("/v1/orders", anOrder(partner))).status).toBe(201);
  });
});
