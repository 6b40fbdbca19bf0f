import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, placeTestOrder } from "../support/builders.ts";
import { aSenderTo, deliveryOfOrder, ONE_TRY, readDelivery, redeliver } from "../support/deliveries.ts";
import { cancelOrder } from "../support/orders.ts";
import type { ReceivedRequest } from "../support/receivers.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { endpointPath, loseWorker, uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: ONE_TRY });
});
afterAll(() => test.close());

const SHOWN = ["content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"];
const sentRequest = ({ headers, body }: ReceivedRequest) => ({
  headers: Object.fromEntries(SHOWN.map((name) => [name, headers[name]])),
  body,
});

/** A sender whose receiver keeps the requests. */
async function aRecordedSender(options: { place?: typeof placeTestOrder } = {}) {
  const requests: ReceivedRequest[] = [];
  const sent = await aSenderTo(test, (request, response) => {
    requests.push(request);
    response.writeHead(500).end();
  });
  const order = options.place === undefined ? sent.order : await options.place(sent.partner);
  const id = await deliveryOfOrder(sent, { order });
  const requestsOf = async (deliveryId = id) =>
    (await readDelivery(sent.partner, deliveryId)).attempts.map(
      ({ request }: { request: unknown }) => request,
    );
  return { ...sent, order, id, requests, requestsOf };
}

describe("the request of an attempt", () => {
  it("is what the receiver got, in each attempt, also after the secret was rotated", async () => {
    const { partner, endpointId, id, requests, requestsOf, send } = await aRecordedSender();
    await send();
    test.clock.advance({ minutes: 1 });
    await redeliver(partner, id);
    await send();
    expect(requests).toHaveLength(2);
    expect(await requestsOf()).toEqual(requests.map(sentRequest));
    expect(new Set(requests.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(2);

    test.clock.advance({ minutes: 10 });
    await partner.client.post(endpointPath(endpointId, "rotate-secret"));
    test.clock.advance({ minutes: 10 });
    await redeliver(partner, id);
    await send();
    expect(await requestsOf()).toEqual(requests.map(sentRequest));
    expect(requests[2]?.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
  });

  it("has no signature that is not certain: a compromised secret ended, or the rotation was just before", async () => {
    const { partner, endpointId, id, requestsOf, send } = await aRecordedSender();
    await send();
    test.clock.advance({ minutes: 1 });
    await partner.client.post(endpointPath(endpointId, "rotate-secret"), { overlapHours: 0 });
    await redeliver(partner, id);
    await send();
    const headers = expect.objectContaining({ "webhook-signature": null });
    expect(await requestsOf()).toEqual([
      { headers, body: expect.stringContaining("order.created") },
      { headers, body: expect.stringContaining("order.created") },
    ]);
  });

  it("shows no personal data that was erased, and no signature of a body that was not sent", async () => {
    const { partner, order, id, requestsOf, send } = await aRecordedSender();
    await send();
    await cancelOrder(partner, order.id);
    const [before] = await requestsOf();
    expect(before.body).toContain("firstName");
    const erased = await test.backOffice.post(`/api/orders/${order.id}/erase-personal-data`);
    expect(erased.status).toBe(200);
    const [after] = await requestsOf();
    expect(JSON.parse(after.body).data.order.shippingAddress.firstName).toBe("erased");
    expect(after.headers["webhook-signature"]).toBeNull();
    test.clock.advance({ minutes: 10 });
    await redeliver(partner, id);
    await send();
    const [, resent] = await requestsOf();
    expect(resent.headers["webhook-signature"]).toMatch(/^v1,/);
  });

  it("is null if the worker ended during the attempt, and its body once the event is not kept", async () => {
    const { partner, endpointId, id, requestsOf, send } = await aRecordedSender();
    await send();
    await redeliver(partner, id);
    await loseWorker(test, uuidIn("whe", endpointId));
    test.clock.advance({ minutes: 2 });
    await send();
    expect((await requestsOf()).map((request: object | null) => request !== null)).toEqual([
      true,
      false,
      true,
    ]);
    test.clock.advance({ hours: 31 * 24 });
    const headers = expect.objectContaining({
      "webhook-id": expect.stringMatching(/^evt_/),
      "webhook-signature": null,
    });
    expect(await requestsOf()).toEqual([{ headers, body: null }, null, { headers, body: null }]);
  });

  it("is shown to a test key for test orders", async () => {
    const { partner, id, requests, requestsOf, send } = await aRecordedSender({ place: placeTestOrder });
    await send();
    const client = test.partner((await createKey(test, partner.connectionId, { mode: "test" })).key);
    const { body } = await client.get(`/v1/deliveries/${id}`);
    expect(body.attempts.map(({ request }: { request: unknown }) => request)).toEqual(await requestsOf());
    expect(requests.map(sentRequest)).toEqual(expect.arrayContaining(await requestsOf()));
  });

  it("is not known of a deleted endpoint but for the body", async () => {
    const { partner, endpointId, requestsOf, send } = await aRecordedSender();
    await send();
    await partner.client.request("DELETE", endpointPath(endpointId));
    const [request] = await requestsOf();
    expect(request).toMatchObject({ headers: { "webhook-signature": null }, body: expect.any(String) });
  });
});

describe("GET /v1/deliveries", () => {
  it("does not show requests", async () => {
    const { partner, send } = await aRecordedSender();
    await send();
    const { body } = await partner.client.get("/v1/deliveries");
    expect(body.data[0].attempts[0]).not.toHaveProperty("request");
  });
});
