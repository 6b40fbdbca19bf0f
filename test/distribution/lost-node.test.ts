import { expect, inject, it } from "vitest";
import { newIdAt, toTypeId } from "../../src/platform/ids.ts";
import { type Partner, placeOrder } from "../support/builders.ts";
import { loseNode } from "../support/citus-nodes.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { partnersOnTwoNodes } from "../support/partners-on-nodes.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";
import { uuidIn } from "../support/webhooks.ts";

const onCitus = it.skipIf(inject("citusNodes").length === 0);

onCitus(
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

onCitus(
  "while a node is down, the back office finds, ships and completes the orders of merchants on other nodes",
  async () => {
    const test = await startServiceForTest();
    const [healthy, lost, node] = await partnersOnTwoNodes(test);
    const facility = await createFacility(test);
    for (const { productIds } of [healthy, lost]) await setStock(test, facility, productIds[0], 10);
    const [own, other] = [await placeOrder(healthy), await placeOrder(lost)];
    await acceptAll(test);
    await routeAll(test);
    const restore = await loseNode(test, node);

    const { merchantId } = healthy;
    const merchant = test.backOfficeFor({
      kind: "merchant",
      name: "Owner",
      merchantIds: [uuidIn("mer", merchantId)],
    });
    for (const [client, query] of [
      [test.backOffice, `merchantId=${merchantId}`],
      [test.backOffice, `merchantId=${merchantId}&ready=true`],
      [merchant, "status=ACCEPTED"],
    ] as const)
      expect(await client.get(`/api/orders?${query}`), query).toMatchObject({
        status: 200,
        body: { data: [{ id: own.id }] },
      });
    for (const path of [
      `merchants/${merchantId}/account`,
      "payment-failures",
      "payment-failures/by-merchant",
    ])
      expect((await merchant.get(`/api/${path}`)).status, path).toBe(200);
    const changes = await merchant.get("/api/changes?kind=order");
    expect(changes.body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ objectId: own.id })]),
    );
    const shipped = await test.backOffice.post(`/api/orders/${own.id}/ship`, { trackingNumber: "T1" });
    expect(shipped.status, JSON.stringify(shipped.body)).toBe(200);
    const path = `/api/shipments/${shipped.body.shipments[0].id}`;
    expect((await test.backOffice.request("PATCH", path, { body: { status: "delivered" } })).status).toBe(
      200,
    );
    expect((await test.backOffice.post(`/api/orders/${own.id}/complete`)).body.status).toBe("COMPLETED");
    await setStock(test, facility, healthy.productIds[0], 20);
    expect((await test.backOffice.get(`/api/connections/${healthy.connectionId}`)).status).toBe(200);

    // What is on no other node may be on the one that is down.
    const unknown = toTypeId("ord", newIdAt(test.clock.now()));
    for (const id of [other.id, unknown])
      expect((await test.backOffice.get(`/api/orders/${id}`)).status).toBe(503);
    await restore();
    await expect.poll(async () => (await test.backOffice.get(`/api/orders/${other.id}`)).status).toBe(200);
    expect((await test.backOffice.get(`/api/orders/${unknown}`)).status).toBe(404);
  },
);
