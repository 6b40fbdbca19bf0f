import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { openSignalChannel } from "../../src/platform/signals.ts";
import { POLLS_MAX } from "../../src/webhooks/pull/polls.ts";
import { untilBlocked } from "../support/blocked.ts";
import { created, createKey, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { listen } from "../support/sockets.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { ENDPOINTS, endpointPath, readRows, uuidIn } from "../support/webhooks.ts";

type Leased = { deliveryId: string; attempt: number; eventId: string; orderId: string; body: string };

let test: TestService;
let partner: Partner;
let id: string;
beforeAll(async () => {
  test = await startTestService();
  const { db, log } = test.context;
  Object.assign(test.context, { signals: openSignalChannel(db, log, randomUUID()) });
});
beforeEach(async () => {
  partner = await createPartner(test);
  id = (await created(partner.client.post(ENDPOINTS, { kind: "pull", maxInFlight: 20 }))).id;
});
afterAll(() => test.close());

/** The partner API on a port, as a process has it. */
async function startApi() {
  const stopping = new AbortController();
  const app = createPartnerApi({ ...test.context, stopping: stopping.signal }, createMetrics());
  const url = await listen(app);
  onTestFinished(async () => {
    stopping.abort();
    await app.close();
  });
  const connections = (): Promise<number> =>
    new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
  const request = async (
    path: string,
    options: { key?: string; body?: object; signal?: AbortSignal } = {},
  ) => {
    const response = await fetch(url + path, {
      method: options.body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${options.key ?? partner.key}`,
        ...(options.body && { "content-type": "application/json" }),
      },
      ...(options.body && { body: JSON.stringify(options.body) }),
      ...(options.signal && { signal: options.signal }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of a body.
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const poll = (query = "?wait=20", options = {}) =>
    request(`${endpointPath(id)}/deliveries${query}`, options);
  const acknowledge = (leased: readonly Leased[], status = 200, options = {}) =>
    request(endpointPath(id, "acknowledgements"), {
      ...options,
      body: { acknowledgements: leased.map(({ deliveryId, attempt }) => ({ deliveryId, attempt, status })) },
    });
  /** Until so many connections are open, each with a poll that waits. */
  const untilOpen = (count: number) =>
    vi.waitFor(async () => expect(await connections()).toBe(count), 10_000);
  return { app, stop: () => stopping.abort(), poll, acknowledge, untilOpen };
}

describe("GET /v1/webhook-endpoints/{endpointId}/deliveries with wait", () => {
  it("returns a delivery as soon as it is due, in whatever process it became due", async () => {
    const api = await startApi();
    const waiting = api.poll();
    await api.untilOpen(1);
    const order = await placeOrder(partner);
    expect((await waiting).body.data).toMatchObject([{ orderId: order.id, attempt: 1 }]);
  });

  it("waits until a place is free", async () => {
    await partner.client.request("PATCH", endpointPath(id), { body: { maxInFlight: 1 } });
    const api = await startApi();
    await placeOrder(partner);
    await placeOrder(partner);
    const first = (await api.poll()).body.data;
    const waiting = api.poll();
    await api.untilOpen(2);
    await api.acknowledge(first);
    expect((await waiting).body.data).toHaveLength(1);
  });

  it("ends empty when the time is over, and when the process stops", async () => {
    const api = await startApi();
    expect((await api.poll("?wait=1")).body).toEqual({ data: [] });
    const waiting = api.poll();
    await api.untilOpen(1);
    api.stop();
    expect((await waiting).body).toEqual({ data: [] });
  });

  it("ends at once when the endpoint is paused or deleted, or the key is revoked", async () => {
    const api = await startApi();
    const { id: keyId, key } = await createKey(test, partner.connectionId);
    const revoked = api.poll("?wait=20", { key });
    await vi.waitFor(async () => expect((await api.poll("?wait=0", { key })).status).toBe(200));
    await test.backOffice.post(`/api/keys/${keyId}/revoke`);
    expect(await revoked).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    const paused = api.poll();
    await api.untilOpen(2);
    await test.backOffice.post(`/api/connections/${partner.connectionId}/webhook-endpoints/${id}/pause`);
    expect(await paused).toMatchObject({ status: 409, body: { code: "endpoint-paused" } });
    await partner.client.post(endpointPath(id, "resume"));
    const deleted = api.poll();
    await partner.client.request("DELETE", endpointPath(id));
    expect(await deleted).toMatchObject({ status: 404, body: { code: "not-found" } });
  });

  it("leases nothing for a client that has left", async () => {
    const api = await startApi();
    const client = new AbortController();
    const left = api.poll("?wait=20", { signal: client.signal });
    left.catch(() => undefined);
    await api.untilOpen(1);
    client.abort();
    await api.untilOpen(0);
    await placeOrder(partner);
    expect(await readRows(test, "due_deliveries", id)).toMatchObject([{ claim_id: null }]);
  });

  it("returns what it leased while the client left, and the attempt does not count", async () => {
    const api = await startApi();
    await placeOrder(partner);
    const client = new AbortController();
    const left = await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-lock-state",
        text: "select 1 from webhook_endpoint_states where merchant_id = $1 and endpoint_id = $2 for update",
        values: [uuidIn("mer", partner.merchantId), uuidIn("whe", id)],
      });
      const leaving = api.poll("?wait=20", { signal: client.signal }).catch(() => null);
      await untilBlocked(test, 1);
      client.abort();
      await api.untilOpen(0);
      return [leaving];
    });
    await Promise.all(left);
    await vi.waitFor(
      async () => expect((await api.poll("?wait=0")).body.data).toMatchObject([{ attempt: 1 }]),
      10_000,
    );
  });

  it("has a number of polls at the same time, and more are 429 with the name of the limit", async () => {
    const api = await startApi();
    const waiting = Array.from({ length: POLLS_MAX.endpoint }, () => api.poll("?wait=20&limit=1"));
    await api.untilOpen(POLLS_MAX.endpoint);
    await vi.waitFor(async () =>
      expect(await api.poll("?wait=20")).toMatchObject({
        status: 429,
        body: { code: "rate-limited", limit: "endpoint-polls" },
      }),
    );
    expect((await api.poll("?wait=0")).status).toBe(200);
    await placeOrder(partner);
    await placeOrder(partner);
    const all = (await Promise.all(waiting)).flatMap(({ body }) => body.data);
    expect(all).toHaveLength(2);
    expect(new Set(all.map(({ deliveryId }: Leased) => deliveryId)).size).toBe(2);
  });

  it("loses nothing and keeps the order of each order, whenever clients are killed", async () => {
    const apis = [await startApi(), await startApi()];
    const orders = await Promise.all(Array.from({ length: 12 }, () => placeOrder(partner)));
    for (const order of orders.slice(0, 6)) await partner.client.post(`/v1/orders/${order.id}/cancel`);
    await partner.client.post(endpointPath(id, "ping"));
    const arrived: { orderId: string; sequence: number; id: string }[] = [];
    let seed = 7;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const wanted = orders.length + 6 + 1;
    const known = (): number => new Set(arrived.map(({ id: eventId }) => eventId)).size;
    for (let round = 0; known() < wanted && round < 80; round += 1) {
      await Promise.all(
        apis.map(async ({ poll, acknowledge }) => {
          const client = new AbortController();
          // A part of the clients is killed: before, during or after the response.
          if (random() < 0.4) setTimeout(() => client.abort(), random() * 12);
          try {
            const { body } = await poll("?wait=1&limit=3", { signal: client.signal });
            for (const leased of body.data as Leased[]) {
              const { id: eventId, sequence } = JSON.parse(leased.body);
              arrived.push({ orderId: leased.orderId, sequence, id: eventId });
            }
            await acknowledge(body.data, 200, { signal: client.signal });
          } catch {
            // It was killed.
          }
        }),
      );
      test.clock.advance({ seconds: 61 });
      await runJob(test, "end-pull-leases");
      test.clock.advance({ seconds: 61 });
    }
    expect(known()).toBe(wanted);
    for (const { id: orderId } of orders) {
      const firsts = [
        ...new Set(arrived.filter((one) => one.orderId === orderId).map(({ sequence }) => sequence)),
      ];
      expect(firsts).toEqual(firsts.toSorted((one, other) => one - other));
    }
  });
});

describe("the allowance of polls", () => {
  it("is apart from that of requests, and bounded", async () => {
    const limited = await startTestService({
      databaseUrl: test.context.config.databaseUrl ?? "",
      config: { rateLimitPerMinute: 6 },
    });
    onTestFinished(limited.close);
    const client = limited.partner(partner.key);
    for (let n = 0; n < 30; n += 1)
      expect((await client.get(`${endpointPath(id)}/deliveries`)).status).toBe(200);
    const refused = await client.get(`${endpointPath(id)}/deliveries`);
    expect(refused).toMatchObject({ status: 429, body: { code: "rate-limited", limit: "poll-requests" } });
    expect(refused.headers["ratelimit-policy"]).toBe('"polls";q=30;w=60');
    expect((await client.get("/v1/me")).status).toBe(200);
  });
});
