import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { expectProblem } from "../support/orders.ts";
import { startServiceForTest, startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath, pauseEndpoint, readRows } from "../support/webhooks.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("DELETE /v1/webhook-endpoints/{endpointId}", () => {
  it("fails pending deliveries, keeps the log, and deletes the secrets", async () => {
    const local = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const { url } = await startReceiverForTest();
    const own = await createPartner(local);
    const { id } = await createEndpoint(own, { url });
    const { id: otherId } = await createEndpoint(own, { url });
    const order = await placeOrder(own);
    await sendDue(startDispatcher(local));
    await own.client.post(endpointPath(id, "rotate-secret"));
    for (const pinged of [id, otherId]) await own.client.post(endpointPath(pinged, "ping"));

    const { status, body } = await own.client.request("DELETE", endpointPath(id));
    expect([status, body]).toEqual([204, undefined]);
    await runJob(local, "clear-endpoints");
    expect(await readRows(local, "due_deliveries", id)).toEqual([]);
    expect(await readRows(local, "webhook_secrets", id)).toEqual([]);
    const log = (await own.client.get(`/v1/deliveries?endpointId=${id}`)).body.data;
    expect(log.map(({ eventType, status }: Record<string, string>) => [eventType, status]).sort()).toEqual([
      ["order.created", "succeeded"],
      ["webhook.ping", "failed"],
    ]);
    const done = await deliveryOf(own, id, order.id);
    expect((await own.client.get(`/v1/deliveries/${done}`)).status).toBe(200);
    expect(await readRows(local, "due_deliveries", otherId)).toHaveLength(1);
    expect(await readRows(local, "webhook_secrets", otherId)).toHaveLength(1);
  });

  it("deletes a paused endpoint too, and a repeat is 404", async () => {
    const { id } = await createEndpoint(partner);
    await pauseEndpoint(test, id);
    expect((await partner.client.request("DELETE", endpointPath(id))).status).toBe(204);
    expectProblem(await partner.client.request("DELETE", endpointPath(id)), 404, "not-found");
  });

  it("happens once for many concurrent requests", async () => {
    const { id } = await createEndpoint(partner);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => partner.client.request("DELETE", endpointPath(id))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)]);
  });

  it("leaves nothing due with concurrent pings", async () => {
    const { id } = await createEndpoint(partner);
    await Promise.all([
      ...Array.from({ length: 10 }, () => partner.client.post(endpointPath(id, "ping"))),
      partner.client.request("DELETE", endpointPath(id)),
      ...Array.from({ length: 10 }, () => partner.client.post(endpointPath(id, "ping"))),
    ]);
    await runJob(test, "clear-endpoints");
    expect(await readRows(test, "due_deliveries", id)).toEqual([]);
    for (const { status } of await readRows(test, "deliveries", id)) expect(status).toBe("failed");
  });
});
