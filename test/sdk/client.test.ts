import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isProblem, PartnerOrders } from "../../packages/sdk/src/index.ts";
import { createExposedProduct, createKey } from "../support/builders.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import { all, anOrderOf } from "../support/partner-sdk.ts";

let listener: PartnerListener;
let client: PartnerOrders;
beforeAll(async () => {
  listener = await startPartnerListener();
  client = new PartnerOrders({ baseUrl: listener.url, key: listener.partner.key });
});
afterAll(() => listener.close());

let placed = 0;
function anOrder() {
  placed += 1;
  return anOrderOf(listener.partner.productIds[0], `sdk-${placed}`);
}
const codeOf = (error: unknown) => (isProblem(error) ? error.code : error);

describe("the SDK against the service", () => {
  it("names the connection of the key", async () => {
    expect(await client.me()).toMatchObject({ id: listener.partner.connectionId });
  });

  it("places an order once, however often", async () => {
    const order = anOrder();
    const orders = await Promise.all([1, 2, 3].map(() => client.orders.create(order)));
    expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
    expect(await client.orders.get(order.externalOrderId)).toMatchObject({
      id: orders[0]?.id,
      status: "NEW",
    });
    const keyed = { ...order, externalOrderId: undefined } as never;
    const first = await client.orders.create(keyed, { idempotencyKey: "ключ-1" });
    expect(await client.orders.create(keyed, { idempotencyKey: "ключ-1" })).toEqual(first);
  });

  it("createOrGet returns the order that has the externalOrderId, also under another key", async () => {
    const order = anOrder();
    const first = await client.orders.createOrGet(order, { idempotencyKey: `${order.externalOrderId}-a` });
    expect(first.created).toBe(true);
    const again = await client.orders.createOrGet(order, { idempotencyKey: `${order.externalOrderId}-a` });
    expect(again).toMatchObject({ created: false, order: { id: first.order.id } });
    const other = await client.orders.createOrGet(order, { idempotencyKey: `${order.externalOrderId}-b` });
    expect(other).toMatchObject({ created: false, order: { id: first.order.id, shipments: [] } });
    const changed = { ...order, note: "Another request." };
    const reused = client.orders.createOrGet(changed, { idempotencyKey: `${order.externalOrderId}-a` });
    expect(codeOf(await reused.catch((error) => error))).toBe("idempotency-key-reused");
  });

  it("createOrGet does not show a real order to a test key", async () => {
    const { key } = await createKey(listener.test, listener.partner.connectionId, { mode: "test" });
    const testClient = new PartnerOrders({ baseUrl: listener.url, key });
    const order = anOrder();
    await client.orders.create(order);
    const rejected = testClient.orders.createOrGet(
      { ...order, testMode: true },
      { idempotencyKey: "test-1" },
    );
    expect(codeOf(await rejected.catch((error) => error))).toBe("order-already-exists");
  });

  it("cancels, and says with the status why it cannot, with the id of the request", async () => {
    const { id } = await client.orders.create({ ...anOrder(), testMode: true });
    await client.testOrders.transition(id, { transition: "accept" });
    const error = await client.orders.cancel(id).catch((reason) => reason);
    expect(error).toMatchObject({
      name: "ProblemError",
      code: "order-not-cancelable",
      problem: { orderStatus: "ACCEPTED" },
      attempts: 1,
    });
    expect(error.requestId).toMatch(/\S{8,}/);
    expect(error.message).toContain(error.requestId);
    const { id: other } = await client.orders.create(anOrder());
    expect(await client.orders.cancel(other)).toMatchObject({ status: "CANCELED" });
    expect(await client.orders.cancel(other)).toMatchObject({ status: "CANCELED" });
  });

  it("lists are pages and all items", async () => {
    await createExposedProduct(listener.test, listener.partner.merchantId, listener.partner.connectionId);
    const page = await client.products.list({ limit: 2 });
    expect(page.data).toHaveLength(2);
    const rest = await client.products.list({ limit: 2, cursor: String(page.nextCursor) });
    const products = await all(client.products.list({ limit: 1 }));
    expect(products).toEqual([...page.data, ...rest.data]);
    const sizes = (await all(client.products.list({ limit: 2 }).pages())).map(({ data }) => data.length);
    expect(sizes).toEqual([2, 1]);
    expect(await client.products.get(String(products[0]?.id))).toEqual(products[0]);
  });

  it("searches through all pages, also from a cursor on", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await client.orders.create(anOrder())).externalOrderId),
    );
    const externalOrderIds = ids.map(String);
    const found = await all(client.orders.search({ externalOrderIds, limit: 2 }));
    expect(found.map((order) => order.externalOrderId).sort()).toEqual(externalOrderIds.sort());
    const { nextCursor } = await client.orders.search({ externalOrderIds, limit: 2 });
    const rest = client.orders.search({ externalOrderIds, limit: 2, cursor: String(nextCursor) });
    expect(await all(rest)).toEqual(found.slice(2));
  });

  it("drives a test order, and erases it", async () => {
    const { id } = await client.orders.create({ ...anOrder(), testMode: true });
    expect(await client.testOrders.transition(id, { transition: "ship" })).toMatchObject({
      status: "IN_PROGRESS",
    });
    const refused = await client.testOrders.transition(id, { transition: "ship" }).catch((error) => error);
    expect(refused).toMatchObject({ code: "transition-refused", problem: { rule: "nothing_to_ship" } });
    await client.testOrders.erase(id);
    expect(codeOf(await client.orders.get(id).catch((error) => error))).toBe("not-found");
  });

  it("makes, changes and deletes an endpoint", async () => {
    const url = "https://partner.example/webhooks";
    const { id, secret } = await client.webhookEndpoints.create({ url, mode: "test" });
    expect(secret).toMatch(/^whsec_/);
    expect(await client.webhookEndpoints.update(id, { description: "Shop" })).toMatchObject({
      description: "Shop",
    });
    expect((await client.webhookEndpoints.rotateSecret(id)).secret).not.toBe(secret);
    const { id: deliveryId } = await client.webhookEndpoints.ping(id);
    expect(await client.deliveries.get(deliveryId)).toMatchObject({
      endpointId: id,
      eventType: "webhook.ping",
    });
    expect(await client.webhookEndpoints.delete(id)).toBeUndefined();
    expect(codeOf(await client.webhookEndpoints.get(id).catch((error) => error))).toBe("not-found");
  });

  it("a wrong key is a problem, and so is no key", async () => {
    for (const options of [{ key: "wrong" }, {}]) {
      const stranger = new PartnerOrders({ baseUrl: listener.url, ...options });
      expect(codeOf(await stranger.me().catch((error) => error))).toBe("unauthorized");
    }
  });

  it("reads the description of the service", async () => {
    expect(await client.openApi()).toMatchObject({ "x-retry": { repeat: {} }, openapi: "3.1.0" });
  });
});
