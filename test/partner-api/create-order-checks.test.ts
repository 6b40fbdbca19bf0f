import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAddress, anOrder, createPartner, type Partner, readEvents } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { sendOrder, UNKNOWN_PRODUCT } from "../support/order-requests.ts";
import {
  expectErrors,
  expectNothingHappened,
  expectProblem,
  readOrder,
  readStoredOrders,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
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

const send = (request: object, key?: string | string[], by = partner) => sendOrder(by, request, key);

/** Orders of the events in the feed of the partner. */
async function readFeedOrderIds(): Promise<string[]> {
  const { body } = await partner.client.request("GET", "/v1/events");
  return body.data.flatMap(({ data }: { data: { order?: { id: string } } }) => data.order?.id ?? []);
}

const withoutExternalId = (fields: object = {}) =>
  anOrder(partner, { externalOrderId: undefined, ...fields });

describe("POST /v1/orders, a rejected request does not use up its key", () => {
  it.each([
    [
      "a body that cannot be read",
      () =>
        partner.client.request("POST", "/v1/orders", {
          rawBody: "{",
          headers: { "idempotency-key": "key-1" },
        }),
    ],
    ["a body that does not fit", () => send({}, "key-1")],
    ["an unknown product", () => send(anOrder(partner, UNKNOWN_PRODUCT), "key-1")],
  ])("%s", async (_, reject) => {
    expect((await reject()).status).toBeGreaterThanOrEqual(400);
    await expectNothingHappened(test, partner);
    expect((await send(anOrder(partner), "key-1")).status).toBe(201);
  });
});

describe("POST /v1/orders, the order of its checks", () => {
  it("reads the body before it looks for a key", async () => {
    const rawBody = "{";
    expectProblem(await partner.client.request("POST", "/v1/orders", { rawBody }), 400, "malformed-request");
  });

  it("checks the shape before it looks for a key", async () => {
    expectErrors(await send(withoutExternalId({ lines: [] })), [{ pointer: "/lines" }]);
  });

  it("checks the shape before it recognizes the key", async () => {
    await send(anOrder(partner), "key-1");
    expectErrors(await send(anOrder(partner, { lines: [] }), "key-1"), [{ pointer: "/lines" }]);
  });

  it("checks the key before the products", async () => {
    expectProblem(await send(withoutExternalId(UNKNOWN_PRODUCT)), 400, "idempotency-key-missing");
  });

  it("checks the key before the external id", async () => {
    const { body: first } = await send(anOrder(partner), "key-1");
    await send(anOrder(partner, { externalOrderId: "taken" }), "key-2");
    const rejected = await send(anOrder(partner, { externalOrderId: "taken" }), "key-1");
    const members = { orderId: first.id, differences: ["/externalOrderId"] };
    expectProblem(rejected, 422, "idempotency-key-reused", members);
  });

  it("checks the external id before the products", async () => {
    await send(anOrder(partner, { externalOrderId: "taken" }), "key-1");
    const rejected = await send(anOrder(partner, { externalOrderId: "taken", ...UNKNOWN_PRODUCT }), "key-2");
    expect([rejected.status, rejected.body.externalOrderId]).toEqual([409, "taken"]);
  });
});

describe("POST /v1/orders, erased test orders free their key and external id", () => {
  it.each([
    ["the same request", {}],
    ["another request", { shippingAddress: anAddress({ city: "Leeds" }) }],
    ["a real order", { testMode: false }],
    ["the same external id under another key", {}, "key-2"],
  ])("for %s, two hours later, before any worker has run", async (_, fields, key = "key-1") => {
    const request = anOrder(partner, { testMode: true });
    const { body: first } = await send(request, "key-1");
    test.clock.advance({ hours: 2 });
    const again = await send({ ...request, ...fields }, key);
    expect(again.status).toBe(201);
    expect(again.headers).not.toHaveProperty("idempotent-replayed");
    expect(again.body.id).not.toBe(first.id);
    expect((await readOrder(partner, request.externalOrderId)).id).toBe(again.body.id);
  });

  it("and the next run of the worker leaves nothing of the erased order", async () => {
    const request = anOrder(partner, { testMode: true });
    const { body: first } = await send(request);
    await applied(partner, first.id, "ship");
    test.clock.advance({ hours: 2 });
    const { body: second } = await send(request);
    expect(await readFeedOrderIds()).toEqual([second.id]);
    await runJob(test, "erase-test-orders");
    expect(await readStoredOrders(test, partner)).toMatchObject([
      { id: second.id, events: ["order.created"] },
    ]);
    expect(JSON.stringify(await readEvents(test))).not.toContain(first.id);
  });

  it("but a millisecond earlier the request is still replayed", async () => {
    const request = anOrder(partner, { testMode: true });
    const { body: first } = await send(request);
    test.clock.advance({ hours: 2, ms: -1 });
    expect(await send(request)).toMatchObject({ status: 200, body: { id: first.id } });
  });

  it("and rejects the products only if nothing else prevents the order", async () => {
    const request = anOrder(partner, { testMode: true });
    await send(request);
    test.clock.advance({ hours: 2 });
    expectErrors(await send({ ...request, ...UNKNOWN_PRODUCT }), [{ pointer: "/lines/0/productId" }]);
    expect(await readFeedOrderIds()).toEqual([]);
  });

  it("never for a real order, however old", async () => {
    const request = anOrder(partner);
    const { body: first } = await send(request);
    test.clock.advance({ hours: 24 * 365 });
    expect(await send(request)).toMatchObject({ status: 200, body: { id: first.id } });
  });
});
