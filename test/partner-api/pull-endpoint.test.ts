import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { ENDPOINTS, endpointPath, pauseEndpoint, readRows } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

type Leased = { deliveryId: string; attempt: number; eventType: string; orderId: string; body: string };

const createPull = async (fields: object = {}) => {
  partner = await createPartner(test);
  return created(partner.client.post(ENDPOINTS, { kind: "pull", ...fields }));
};
const poll = (id: string, query = "") => partner.client.get(`${endpointPath(id)}/deliveries${query}`);
const lease = async (id: string, query = ""): Promise<Leased[]> => {
  const { status, body } = await poll(id, query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
const send = (id: string, acknowledgements: object[]) =>
  partner.client.post(endpointPath(id, "acknowledgements"), { acknowledgements });
const acknowledge = async (id: string, leased: readonly Leased[], fields: object = { status: 200 }) => {
  const answer = await send(
    id,
    leased.map(({ deliveryId, attempt }) => ({ deliveryId, attempt, ...fields })),
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.map(({ result }: { result: string }) => result);
};
const read = async (deliveryId: string) => (await partner.client.get(`/v1/deliveries/${deliveryId}`)).body;
const endLeases = () => runJob(test, "end-pull-leases");

describe("POST /v1/webhook-endpoints with kind pull", () => {
  it("creates an endpoint without an address", async () => {
    const endpoint = await createPull({ description: "Laptop", mode: "test", maxInFlight: 3 });
    expect(endpoint).toMatchObject({
      kind: "pull",
      url: null,
      description: "Laptop",
      mode: "test",
      maxInFlight: 3,
    });
    expect(endpoint.secret).toMatch(/^whsec_/);
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toMatchObject({
      kind: "pull",
      url: null,
    });
  });

  it.each<[string, object, string]>([
    ["a url", { kind: "pull", url: "https://1.1.1.1/" }, "/url"],
    ["a push endpoint without a url", { kind: "push" }, "/url"],
    ["another kind", { kind: "poll" }, "/kind"],
  ])("rejects %s", async (_, body, pointer) => {
    partner = await createPartner(test);
    expectErrors(await partner.client.post(ENDPOINTS, body), [{ pointer }]);
  });

  it("never changes the kind, and has no address to change", async () => {
    const { id } = await createPull();
    const patch = (body: object) => partner.client.request("PATCH", endpointPath(id), { body });
    expectErrors(await patch({ kind: "push" }), [{ pointer: "/kind" }]);
    expectErrors(await patch({ url: "https://1.1.1.1/" }), [{ pointer: "/url" }]);
    expect((await patch({ description: "Other" })).body).toMatchObject({
      kind: "pull",
      description: "Other",
    });
  });
});

describe("a pull endpoint that no program fetches from", () => {
  const report = () => runJob(test, "report-silent-endpoints");
  const health = async (id: string) => (await partner.client.get(endpointPath(id))).body;
  const mails = async (): Promise<string[]> =>
    (
      await test.db.query<{ subject: string }>({
        name: "test-mails-of-endpoint",
        text: "select subject from outgoing_mails where alert_of is not null order by id",
        values: [],
      })
    ).map(({ subject }) => subject);

  it("is failing after a day, warned about, and paused after five days; a success ends it", async () => {
    const { id } = await createPull({ alertEmail: "oncall@partner.example" });
    test.clock.advance({ hours: 48 });
    expect(await report()).toBe(0); // Nothing is due.
    await placeOrder(partner);
    test.clock.advance({ hours: 23 });
    expect(await report()).toBe(0);
    test.clock.advance({ hours: 2 });
    expect(await report()).toBe(1);
    expect(await health(id)).toMatchObject({
      status: "active",
      consecutiveFailures: 1,
      backingOffUntil: null,
    });
    expect(await mails()).toHaveLength(1);
    await report(); // As an hour later, in another process.
    expect(await mails()).toHaveLength(1);

    expect(await acknowledge(id, await lease(id))).toEqual(["recorded"]);
    expect(await health(id)).toMatchObject({ consecutiveFailures: 0 });
    await placeOrder(partner);
    for (let hour = 0; hour < 5 * 24 + 3; hour += 6) {
      test.clock.advance({ hours: 6 });
      await report();
    }
    expect(await health(id)).toMatchObject({ status: "paused", pauseReason: "failing" });
    expect((await mails()).map((subject) => subject.split(":")[0])).toEqual([
      "A webhook endpoint has been failing for a day",
      "A webhook endpoint has been failing for a day",
      "A webhook endpoint has been failing for three days",
      "A webhook endpoint was paused",
    ]);
    await report();
    expect(await mails()).toHaveLength(4);
  });

  it("is not reported while a program has something of it leased, or has failed since", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    test.clock.advance({ hours: 30 });
    const leased = await lease(id);
    expect(await report()).toBe(0);
    await acknowledge(id, leased, { status: 503 });
    expect(await report()).toBe(0);
  });
});

describe("GET /v1/webhook-endpoints/{endpointId}/deliveries", () => {
  it("leases what is due with the request that a push would make", async () => {
    const { id, secret } = await createPull();
    const order = await placeOrder(partner);
    const { status, headers, body } = await poll(id);
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    const [leased, ...others] = body.data;
    expect(others).toEqual([]);
    const event = JSON.parse(leased.body);
    expect(leased).toEqual({
      deliveryId: expect.stringMatching(/^dlv_/),
      attempt: 1,
      leaseExpiresAt: new Date(test.clock.now().getTime() + 60_000).toISOString(),
      eventId: event.id,
      eventType: "order.created",
      orderId: order.id,
      fault: null,
      headers: {
        "content-type": "application/json",
        "user-agent": expect.stringMatching(/^PartnerOrders\//),
        "webhook-id": event.id,
        "webhook-timestamp": String(test.clock.now().getTime() / 1_000),
        "webhook-signature": expect.stringMatching(/^v1,/),
      },
      body: leased.body,
    });
    const signature = leased.headers["webhook-signature"].split(" ");
    const { sign } = new Webhook(secret);
    expect(signature).toEqual([
      sign.call(new Webhook(secret), leased.headers["webhook-id"], test.clock.now(), leased.body),
    ]);
    expect(await read(leased.deliveryId)).toMatchObject({
      status: "pending",
      nextAttemptAt: null,
      attempts: [],
    });
    expect(await lease(id)).toEqual([]);
  });

  it("leases no more than maxInFlight at a time, to any number of clients", async () => {
    const { id } = await createPull({ maxInFlight: 3 });
    for (let n = 0; n < 7; n += 1) await placeOrder(partner);
    const all = await Promise.all(Array.from({ length: 8 }, () => lease(id, "?limit=2")));
    const ids = all.flat().map(({ deliveryId }) => deliveryId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
    expect(await acknowledge(id, all.flat().slice(0, 1))).toEqual(["recorded"]);
    expect(await lease(id)).toHaveLength(1);
  });

  it("leases the events of an order one after the other", async () => {
    const { id } = await createPull();
    const order = await placeOrder(partner);
    await placeOrder(partner);
    await partner.client.post(`/v1/orders/${order.id}/cancel`);
    const first = await lease(id);
    expect(first.map(({ eventType }) => eventType)).toEqual(["order.created", "order.created"]);
    await acknowledge(id, first);
    expect(await lease(id)).toMatchObject([{ eventType: "order.canceled", orderId: order.id, attempt: 1 }]);
  });

  it("returns pings and redeliveries", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    const [created] = await lease(id);
    await acknowledge(id, created === undefined ? [] : [created]);
    await partner.client.post(`/v1/deliveries/${created?.deliveryId}/redeliver`);
    await partner.client.post(endpointPath(id, "ping"));
    const again = await lease(id);
    expect(again).toMatchObject([
      { deliveryId: created?.deliveryId, attempt: 2, orderId: created?.orderId },
      { eventType: "webhook.ping", attempt: 1, orderId: null },
    ]);
    expect(await acknowledge(id, again)).toEqual(["recorded", "recorded"]);
    expect((await read(again[0]?.deliveryId ?? "")).attempts).toMatchObject([
      { number: 1, trigger: "schedule" },
      { number: 2, trigger: "manual" },
    ]);
  });

  it("is not touched by workers", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    await sendDue(startDispatcher(test));
    expect(await readRows(test, "webhook_endpoint_states", id)).toMatchObject([{ worker_id: null }]);
    expect(await lease(id)).toHaveLength(1);
    test.clock.advance({ minutes: 2 });
    await sendDue(startDispatcher(test));
    expect(await readRows(test, "due_deliveries", id)).toMatchObject([{ attempt_count: 0 }]);
  });

  it("rejects a push endpoint, one of others and a paused one", async () => {
    const { id } = await createPull();
    const push = await created(partner.client.post(ENDPOINTS, { url: "https://1.1.1.1/" }));
    expectErrors(await poll(push.id), [{ parameter: "endpointId" }]);
    expectErrors(await send(push.id, [{ deliveryId: "dlv_0", attempt: 1, status: 200 }]), [
      { parameter: "endpointId" },
    ]);
    await pauseEndpoint(test, id);
    expectProblem(await poll(id), 409, "endpoint-paused");
    partner = await createPartner(test);
    expectProblem(await poll(id), 404, "not-found");
    expectProblem(await send(id, [{ deliveryId: "dlv_0", attempt: 1, status: 200 }]), 404, "not-found");
  });

  it("leases nothing of a live endpoint to a test key", async () => {
    const live = await createPull();
    const forTests = await created(partner.client.post(ENDPOINTS, { kind: "pull", mode: "test" }));
    const { key } = await createKey(test, partner.connectionId, { mode: "test" });
    const client = test.partner(key);
    expectProblem(await client.get(`${endpointPath(live.id)}/deliveries`), 403, "forbidden");
    expect((await client.get(`${endpointPath(forTests.id)}/deliveries`)).status).toBe(200);
  });
});

describe("POST /v1/webhook-endpoints/{endpointId}/acknowledgements", () => {
  it("records the response of the receiver, once", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    const leased = await lease(id);
    test.clock.advance({ seconds: 2 });
    const response = { status: 201, responseBody: "Thanks\u0000", durationMs: 12 };
    expect(await acknowledge(id, leased, response)).toEqual(["recorded"]);
    expect(await acknowledge(id, leased, response)).toEqual(["recorded"]);
    expect(await acknowledge(id, leased, { status: 500 })).toEqual(["recorded"]);
    const delivery = await read(leased[0]?.deliveryId ?? "");
    expect(delivery).toMatchObject({ status: "succeeded", attemptCount: 1 });
    expect(delivery.attempts).toMatchObject([
      { number: 1, durationMs: 12, responseStatus: 201, responseBody: "Thanks\ufffd", error: null },
    ]);
    expect(delivery.attempts[0].request).toEqual({ headers: expect.anything(), body: leased[0]?.body });
    expect(delivery.attempts[0].request.headers).toEqual(
      (leased[0] as unknown as { headers: object }).headers,
    );
    expect((await partner.client.get(endpointPath(id))).body).toMatchObject({
      lastSuccessAt: test.clock.now().toISOString(),
      pendingDeliveries: 0,
    });
  });

  it("shows how far the endpoint is behind the orders until all is acknowledged", async () => {
    const { id } = await createPull();
    const behind = async () => (await partner.client.get(endpointPath(id))).body.behind;
    const oldestSince = test.clock.now().toISOString();
    await placeOrder(partner);
    expect(await behind()).toEqual({ orders: 1, events: 1, oldestSince });
    const leased = await lease(id);
    expect(await behind()).toEqual({ orders: 1, events: 1, oldestSince });
    await acknowledge(id, leased);
    expect(await behind()).toEqual({ orders: 0, events: 0, oldestSince: null });
  });

  it("retries a failure by the schedule", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    const leased = await lease(id);
    expect(await acknowledge(id, leased, { status: 503, retryAfterSeconds: 20 })).toEqual(["recorded"]);
    const delivery = await read(leased[0]?.deliveryId ?? "");
    expect(delivery.nextAttemptAt).toBe(new Date(test.clock.now().getTime() + 20_000).toISOString());
    expect(await lease(id)).toEqual([]);
    test.clock.advance({ seconds: 20 });
    const again = await lease(id);
    expect(again).toMatchObject([{ deliveryId: leased[0]?.deliveryId, attempt: 2 }]);
    await acknowledge(id, again, { status: null, error: "canceled" });
    expect((await read(leased[0]?.deliveryId ?? "")).attempts).toMatchObject([
      { responseStatus: 503, error: "HTTP 503", errorCode: "http_status" },
      { responseStatus: null, responseBody: null, error: "canceled" },
    ]);
    expect((await partner.client.get(endpointPath(id))).body.consecutiveFailures).toBe(2);
  });

  it("backs off after ten failures, then leases one delivery at a time", async () => {
    const { id } = await createPull({ maxInFlight: 20 });
    for (let n = 0; n < 11; n += 1) await placeOrder(partner);
    await acknowledge(id, (await lease(id, "?limit=10")).slice(0, 10), { status: 500 });
    expect((await partner.client.get(endpointPath(id))).body.backingOffUntil).not.toBeNull();
    expect(await lease(id)).toEqual([]);
    test.clock.advance({ seconds: 10 });
    const probe = await lease(id);
    expect(probe).toHaveLength(1);
    expect(await lease(id)).toEqual([]);
    await acknowledge(id, probe);
    await runJob(test, "resend-deliveries");
    expect(await lease(id, "?limit=100")).toHaveLength(10);
  });

  it("pauses the endpoint at 410", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    await acknowledge(id, await lease(id), { status: 410 });
    expect((await partner.client.get(endpointPath(id))).body).toMatchObject({
      status: "paused",
      pauseReason: "gone",
    });
    expectProblem(await poll(id), 409, "endpoint-paused");
    await partner.client.post(endpointPath(id, "resume"));
    await runJob(test, "resend-deliveries");
    expect(await lease(id)).toMatchObject([{ attempt: 2 }]);
  });

  it("says which acknowledgements came too late, and which name nothing", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    const leased = await lease(id);
    test.clock.advance({ seconds: 60 });
    await endLeases();
    const [first] = leased;
    const answer = await send(id, [
      { deliveryId: first?.deliveryId, attempt: 1, status: 200 },
      { deliveryId: first?.deliveryId, attempt: 2, status: 200 },
      { deliveryId: "dlv_01kabcdefghjkmnpqrstvwxyz0", attempt: 1, status: 200 },
      { deliveryId: "nothing", attempt: 1, status: 200 },
    ]);
    expect(answer.body.data.map(({ result }: { result: string }) => result)).toEqual([
      "lease-ended",
      "lease-ended",
      "not-found",
      "not-found",
    ]);
    const delivery = await read(first?.deliveryId ?? "");
    expect(delivery).toMatchObject({ status: "pending", attemptCount: 1 });
    expect(delivery.attempts).toMatchObject([
      { durationMs: 60_000, responseStatus: null, errorCode: "outcome_unknown" },
    ]);
    expect(new Date(delivery.nextAttemptAt).getTime()).toBeGreaterThan(test.clock.now().getTime() + 3_000);
    test.clock.advance({ seconds: 6 });
    expect(await lease(id)).toMatchObject([{ deliveryId: first?.deliveryId, attempt: 2 }]);
  });

  it("ends leases also without a worker, before others are made", async () => {
    const { id } = await createPull({ maxInFlight: 1 });
    await placeOrder(partner);
    await placeOrder(partner);
    const [first] = await lease(id);
    test.clock.advance({ seconds: 60 });
    const [second] = await lease(id);
    expect(second?.deliveryId).not.toBe(first?.deliveryId);
    expect((await read(first?.deliveryId ?? "")).attemptCount).toBe(1);
  });

  it("records what arrives after a pause, and nothing of a deleted endpoint", async () => {
    const { id } = await createPull();
    await placeOrder(partner);
    await placeOrder(partner);
    const [one, two] = await lease(id);
    await pauseEndpoint(test, id);
    await runJob(test, "clear-endpoints");
    expect(await acknowledge(id, one === undefined ? [] : [one])).toEqual(["recorded"]);
    expect((await read(one?.deliveryId ?? "")).status).toBe("succeeded");
    await partner.client.request("DELETE", endpointPath(id));
    await runJob(test, "clear-endpoints");
    expectProblem(
      await send(id, [{ deliveryId: two?.deliveryId, attempt: 1, status: 200 }]),
      404,
      "not-found",
    );
    test.clock.advance({ hours: 2 });
    await endLeases();
    expect(await read(two?.deliveryId ?? "")).toMatchObject({ status: "failed", attemptCount: 1 });
    expect(await readRows(test, "due_deliveries", id)).toEqual([]);
  });

  it("forgets the leases of an erased test order", async () => {
    const { id } = await createPull({ mode: "test" });
    await placeOrder(partner, { testMode: true });
    const leased = await lease(id);
    expect(leased).toHaveLength(1);
    test.clock.advance({ hours: 3 });
    await runJob(test, "erase-test-orders");
    expect(await acknowledge(id, leased)).toEqual(["not-found"]);
    expect(await lease(id)).toEqual([]);
  });
});
