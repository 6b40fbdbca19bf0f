import { expect, inject, it } from "vitest";
import { type Partner, placeOrder } from "../support/builders.ts";
import { loseNode } from "../support/citus-nodes.ts";
import { partnersOnTwoNodes } from "../support/partners-on-nodes.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";

it.skipIf(inject("citusNodes").length === 0)(
  "while a node is down, merchants on other nodes are read as before, and the others get 503 until it is back",
  async () => {
    const test = await startServiceForTest();
    const [healthy, lost, node] = await partnersOnTwoNodes(test);
    const [own, other] = [await placeOrder(healthy), await placeOrder(lost)];
    const statuses = async (partner: Partner, path: string) => {
      const answers = await Promise.all(times(3, () => partner.client.get(path)));
      return answers.map(({ status }) => status);
    };
    const restore = await loseNode(test, node);
    // At the same time, so that one group has reads of both.
    const [ofHealthy, ofLost] = await Promise.all([
      statuses(healthy, `/v1/orders/${own.id}`),
      statuses(lost, `/v1/orders/${other.id}`),
    ]);
    expect(ofHealthy).toEqual([200, 200, 200]);
    expect(ofLost).toEqual([503, 503, 503]);
    for (const path of ["/v1/me", "/v1/products", "/v1/events", "/v1/deliveries", "/v1/webhook-endpoints"])
      expect(await statuses(healthy, path), path).toEqual([200, 200, 200]);
    expect((await healthy.client.post("/v1/orders/search", {})).status).toBe(200);
    await placeOrder(healthy);
    expect((await healthy.client.post(`/v1/orders/${own.id}/cancel`)).status).toBe(200);

    await restore();
    expect(await statuses(lost, `/v1/orders/${other.id}`)).toEqual([200, 200, 200]);
    expect((await lost.client.post(`/v1/orders/${other.id}/cancel`)).status).toBe(200);
  },
);
