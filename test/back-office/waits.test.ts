import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendFor } from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
let statusCode: number;
let endpointId: string;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true } });
});
afterAll(() => test.close());

/** A partner with an endpoint that fails at first. */
async function start(): Promise<void> {
  statusCode = 503;
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = statusCode;
    response.end();
  });
  partner = await createPartner(test);
  endpointId = (await createEndpoint(partner, { url: receiver.url })).id;
}

const pathOf = (rest: string) => `/api/connections/${partner.connectionId}${rest}`;
const readEndpoint = async () => (await test.backOffice.get(pathOf(`/webhook-endpoints/${endpointId}`))).body;
const waits = async (query = "") => {
  const { body } = await test.backOffice.get(pathOf(`/deliveries${query}`));
  return body.data.map(({ wait }: { wait: object | null }) => wait);
};
const later = (seconds: number): string =>
  new Date(test.clock.now().getTime() + seconds * 1_000).toISOString();

describe("a pending delivery", () => {
  it("waits for its turn, for its retry, and for the earlier events of its order", async () => {
    await start();
    const { id } = await placeAcceptedOrder(test, partner, { externalOrderId: "shop-7" });
    await operationApplied(test, id, "hold", { reasons: ["merchant_request"] });
    const nothing = { until: null, error: null };
    expect(await waits()).toEqual([
      { reason: "earlier_event", ...nothing },
      { reason: "turn", ...nothing },
    ]);
    await sendFor(test, partner);
    const [hold, creation] = await waits();
    expect(hold).toEqual({ reason: "earlier_event", ...nothing });
    expect(creation).toMatchObject({ reason: "retry", error: "HTTP 503" });
    const { body } = await test.backOffice.get(`/api/deliveries?merchantId=${partner.merchantId}`);
    expect(body.data[1]).toMatchObject({ wait: creation, externalOrderId: "shop-7", orderId: id });
    expect(creation.until).toBe(body.data[1].nextAttemptAt);
    const read = await test.backOffice.get(pathOf(`/deliveries/${body.data[1].id}`));
    expect(read.body).toMatchObject({ wait: creation, externalOrderId: "shop-7", attemptCount: 1 });
    expect(await readEndpoint()).toMatchObject({
      health: "failing",
      failingSince: test.clock.now().toISOString(),
      lastFailureAt: test.clock.now().toISOString(),
      lastError: "HTTP 503",
      nextAttemptAt: creation.until,
    });
  });

  it("waits for the end of a backoff, which names the last error, and of a pause", async () => {
    await start();
    for (let count = 0; count < 12; count += 1) await placeOrder(partner);
    await sendFor(test, partner);
    const endpoint = await readEndpoint();
    const backoff = { reason: "backoff", until: endpoint.backingOffUntil, error: "HTTP 503" };
    expect(endpoint).toMatchObject({ health: "backing_off", backingOffUntil: later(5) });
    expect(endpoint.nextAttemptAt).toBe(endpoint.backingOffUntil);
    expect(await waits()).toContainEqual(backoff);
    await test.backOffice.post(pathOf(`/webhook-endpoints/${endpointId}/pause`));
    expect(await waits("?status=pending")).toEqual(
      Array(12).fill({ reason: "paused", until: null, error: null }),
    );
    expect(await readEndpoint()).toMatchObject({ health: "paused", nextAttemptAt: null });
  });

  it("waits for nothing when it has arrived; its endpoint keeps the last failure, and has no open one", async () => {
    await start();
    await placeOrder(partner);
    await sendFor(test, partner);
    const failedAt = test.clock.now().toISOString();
    statusCode = 200;
    test.clock.advance({ seconds: 10 });
    await sendFor(test, partner);
    expect(await waits()).toEqual([null]);
    expect(await readEndpoint()).toMatchObject({
      health: "healthy",
      failingSince: null,
      lastFailureAt: failedAt,
      lastError: "HTTP 503",
      nextAttemptAt: null,
    });
    await placeOrder(partner);
    await sendFor(test, partner);
    const overview = await test.backOffice.get(`/api/overview?merchantId=${partner.merchantId}`);
    expect(overview.body.deliveries).toMatchObject({ succeeded: 2, succeededAtOnce: 1, pending: 0 });
  });
});
