import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { aSenderTo, deliveryOfOrder, readDelivery, sendFor } from "../support/deliveries.ts";
import { answering } from "../support/receivers.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, ENDPOINTS, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

const HOUR_MS = 3_600_000;

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
});
afterAll(() => test.close());

const now = () => test.clock.now().toISOString();

async function read({ client }: Partner, endpointId: string) {
  const { status, body } = await client.get(endpointPath(endpointId));
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

describe("GET /v1/webhook-endpoints/{endpointId} shows its health", () => {
  it("which is that of the list, and empty before the first attempt", async () => {
    const partner = await createPartner(test);
    const { id } = await createEndpoint(partner);
    const endpoint = await read(partner, id);
    expect(endpoint).toMatchObject({
      lastSuccessAt: null,
      consecutiveFailures: 0,
      backingOffUntil: null,
      pendingDeliveries: 0,
    });
    await placeOrder(partner);
    expect((await read(partner, id)).pendingDeliveries).toBe(1);
    expect((await partner.client.get(ENDPOINTS)).body.data).toEqual([await read(partner, id)]);
  });

  it("with the first success at once, and later ones to the hour", async () => {
    const sent = await aSenderTo(test, answering(200));
    const first = now();
    await sent.send();
    const { partner, endpointId } = sent;
    expect(await read(partner, endpointId)).toMatchObject({ lastSuccessAt: first, pendingDeliveries: 0 });
    for (const minutes of [30, 31]) {
      test.clock.advance({ minutes });
      await placeOrder(partner);
      await sent.send();
    }
    expect((await read(partner, endpointId)).lastSuccessAt).toBe(now());
  });

  it("with failures, the backoff until it is over, and the success that ends it", async () => {
    let status = 500;
    const sent = await aSenderTo(test, (request, response) => answering(status)(request, response));
    const { partner, endpointId } = sent;
    for (let failures = 1; failures < 10; failures += 1) {
      if (failures > 1) await placeOrder(partner);
      await sent.send();
      const endpoint = await read(partner, endpointId);
      expect(endpoint.consecutiveFailures).toBeGreaterThanOrEqual(failures);
      if (endpoint.backingOffUntil !== null) break;
    }
    while ((await read(partner, endpointId)).backingOffUntil === null) {
      await placeOrder(partner);
      await sent.send();
    }
    const { backingOffUntil, lastSuccessAt, pendingDeliveries } = await read(partner, endpointId);
    expect(Date.parse(backingOffUntil)).toBeGreaterThan(test.clock.now().getTime());
    expect(lastSuccessAt).toBeNull();
    expect(pendingDeliveries).toBeGreaterThan(1);
    test.clock.advance({ hours: 1 }); // Longer than any backoff.
    expect((await read(partner, endpointId)).backingOffUntil).toBeNull();
    status = 200;
    await sendFor(test, partner);
    expect(await read(partner, endpointId)).toMatchObject({
      lastSuccessAt: now(),
      consecutiveFailures: 0,
      backingOffUntil: null,
      pendingDeliveries: 0,
    });
  });

  it("with how far it is behind the orders while its receiver is down, and not after it has recovered", async () => {
    let status = 503;
    const sent = await aSenderTo(test, (request, response) => answering(status)(request, response));
    const { partner, endpointId } = sent;
    const orderedAt = now();
    const order = await placeTestOrder(partner);
    for (const name of ["hold", "releaseHold"] as const) {
      test.clock.advance({ seconds: 1 });
      await applied(partner, order.id, name);
    }
    await partner.client.post(endpointPath(endpointId, "ping")); // About no order.
    await sent.send();
    const behind = async () => (await read(partner, endpointId)).behind;
    const ofOrder = (await partner.client.get("/v1/deliveries")).body.data.filter(
      ({ orderId }: { orderId: string | null }) => orderId === order.id,
    );
    expect(ofOrder).toHaveLength(3);
    expect(await behind()).toEqual({ orders: 2, events: 4, oldestSince: orderedAt });
    status = 200;
    test.clock.advance({ hours: 1 });
    await sendFor(test, partner);
    expect(await behind()).toEqual({ orders: 0, events: 0, oldestSince: null });
    await pauseEndpoint(test, endpointId);
    expect(await behind()).toBeNull();
  });

  it("without a number of pending deliveries while it is paused; a resume counts them", async () => {
    const partner = await createPartner(test);
    const { id } = await createEndpoint(partner);
    await placeOrder(partner);
    await pauseEndpoint(test, id);
    await placeOrder(partner);
    expect(await read(partner, id)).toMatchObject({ pendingDeliveries: null, lastSuccessAt: null });
    const { status, body } = await partner.client.post(endpointPath(id, "resume"));
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ status: "active", deliveryCount: 2, lastSuccessAt: null });
  });
});

it("a recovery counts the failed deliveries of its period only", async () => {
  const partner = await createPartner(test);
  const { id } = await createEndpoint(partner);
  await placeOrder(partner);
  test.clock.advance({ seconds: 10 });
  const since = now();
  for (let count = 0; count < 3; count += 1) await placeOrder(partner);
  await test.db.runScript("update deliveries set status = 'failed' where status = 'pending'");
  await placeOrder(partner);
  const { body } = await partner.client.post(endpointPath(id, "recover"), { since });
  expect(body).toMatchObject({ since, deliveryCount: 3 });
});

it("a rotation shows until when the previous secret signs", async () => {
  const partner = await createPartner(test);
  const { id } = await createEndpoint(partner);
  const rotate = async (overlapHours?: number) =>
    (await partner.client.post(endpointPath(id, "rotate-secret"), { overlapHours })).body
      .previousSecretExpiresAt;
  const inHours = (hours: number) => new Date(test.clock.now().getTime() + hours * HOUR_MS).toISOString();
  expect(await rotate(2)).toBe(inHours(2));
  expect(await rotate()).toBe(inHours(24));
  expect(await rotate(0)).toBeNull();
});

it("a failed attempt has an error for people and a code for programs, a successful one neither", async () => {
  let status = 503;
  const sent = await aSenderTo(test, (request, response) => answering(status)(request, response));
  await sent.send();
  const id = await deliveryOfOrder(sent);
  status = 200;
  await sent.partner.client.post(`/v1/deliveries/${id}/redeliver`);
  await sent.send();
  expect((await readDelivery(sent.partner, id)).attempts).toMatchObject([
    { error: "HTTP 503", errorCode: "http_status" },
    { error: null, errorCode: null },
  ]);
});
