import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { toTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import {
  createExposedProduct,
  createPartner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { pollFeed, readFeedPage } from "../support/feed.ts";
import {
  connectionKey,
  connectionUuid,
  expectErrors,
  expectProblem,
  withoutItsOwn,
} from "../support/orders.ts";
import { applied } from "../support/sandbox.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

describe("GET /v1/events", () => {
  it("lists the connection's events, oldest first, exactly as they are stored", async () => {
    const partner = await createPartner(test);
    const other = await createPartner(test);
    await placeOrder(other);
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "ship");
    await applied(partner, id, "complete");
    const { data, nextCursor } = await readFeedPage(partner);
    expect(data).toEqual(await readEvents(test, partner.connectionId));
    expect(data.map(({ type, sequence }) => [type, sequence])).toEqual([
      ["product.published", null],
      ["product.published", null],
      ["order.created", 1],
      ["order.shipmentCreated", 2],
      ["order.completed", 3],
    ]);
    expect(nextCursor).not.toBeNull();
  });

  it("returns the stored text byte for byte, in the list and alone", async () => {
    const partner = await createPartner(test);
    const id = test.context.newId();
    const body = '{"z":1.0, "id":"x", "a":"\\u00e9\u2028", "n":1e2}';
    await test.db.query({
      name: "test-odd-event",
      text: "insert into events (merchant_id, connection_id, id, type, body) values ($4, $1, $2, 'product.published', $3)",
      values: [connectionUuid(partner), id, body, connectionKey(partner).merchantId],
    });
    const app = createPartnerApi(test.context, createMetrics());
    const headers = { authorization: `Bearer ${partner.key}` };
    const list = await app.inject({ url: "/v1/events", headers });
    expect(list.body).toContain(`,${body}],"nextCursor":"`);
    expect(list.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect((await app.inject({ url: `/v1/events/${toTypeId("evt", id)}`, headers })).body).toBe(body);
    await app.close();
  });

  it("continues from a cursor; after an empty page a poller keeps its cursor and requests again", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    const first = await pollFeed(partner, null);
    expect(first.events).toEqual(await readEvents(test, partner.connectionId));
    expect((await pollFeed(partner, first.cursor)).ids).toEqual([]);
    const { id } = await placeOrder(partner);
    const second = await pollFeed(partner, first.cursor);
    expect(second.events).toMatchObject([{ type: "order.created", data: { order: { id } } }]);
    expect((await pollFeed(partner, second.cursor)).ids).toEqual([]);
  });

  it("is empty for a connection without events", async () => {
    const merchant = await createPartner(test);
    const path = `/api/merchants/${merchant.merchantId}/connections`;
    const { id } = (await test.backOffice.post(path, { name: "New" })).body;
    const { key } = (await test.backOffice.post(`/api/connections/${id}/keys`, {})).body;
    expect(await readFeedPage({ client: test.partner(key) })).toEqual({ data: [], nextCursor: null });
  });

  it("never exceeds the limit: 50, or the requested one", async () => {
    const partner = await createPartner(test);
    for (let count = 0; count < 5; count += 1)
      await Promise.all(Array.from({ length: 10 }, () => placeOrder(partner)));
    expect((await readFeedPage(partner)).data).toHaveLength(50);
    expect((await readFeedPage(partner, "?limit=100")).data).toHaveLength(52);
    expect((await readFeedPage(partner, "?limit=1")).data).toHaveLength(1);
    expect((await readFeedPage(partner, "?limit=52")).nextCursor).not.toBeNull();
  });

  it("is filtered by order, with either id, and by type", async () => {
    const partner = await createPartner(test);
    const order = await placeTestOrder(partner);
    await applied(partner, order.id, "hold", { reasons: ["out_of_stock"] });
    await placeOrder(partner);
    await applied(partner, order.id, "releaseHold");
    const typesFor = async (query: string) =>
      (await pollFeed(partner, null, query)).events.map(({ type }) => type);
    const all = ["order.created", "order.onHold", "order.onHoldReleased"];
    expect(await typesFor(`&orderId=${order.id}`)).toEqual(all);
    expect(await typesFor(`&orderId=${order.externalOrderId}`)).toEqual(all);
    expect(await typesFor("&type=order.onHold")).toEqual(["order.onHold"]);
    expect(await typesFor("&type=order.created")).toEqual(["order.created", "order.created"]);
    expect(await typesFor(`&orderId=${order.id}&type=order.created`)).toEqual(["order.created"]);
    expect(await typesFor("&type=order.accepted")).toEqual([]);
  });

  it("is empty for an order that the connection does not have", async () => {
    const partner = await createPartner(test);
    const theirs = await placeOrder(await createPartner(test));
    for (const id of [theirs.id, theirs.externalOrderId, "ord_01m7y7np16fe68bxp4h91tdmdn", "nothing"])
      expect(await readFeedPage(partner, `?orderId=${id}`)).toEqual({ data: [], nextCursor: null });
  });

  it("does not show pings", async () => {
    const partner = await createPartner(test);
    const { id } = await createEndpoint(partner);
    const before = await readFeedPage(partner);
    await partner.client.post(endpointPath(id, "ping"));
    expect(await readFeedPage(partner)).toEqual(before);
  });

  it.each([
    "type=webhook.ping",
    "type=order.lost",
    "type=",
    "orderId=",
    `orderId=${"x".repeat(201)}`,
    "limit=0",
    "limit=101",
    "limit=x",
    "cursor=",
    "cursor=x",
    `cursor=${"A".repeat(501)}`,
  ])("rejects %s", async (query) => {
    const partner = await createPartner(test);
    const [parameter = ""] = query.split("=");
    expectErrors(await partner.client.get(`/v1/events?${query}`), [{ parameter }]);
  });

  it("rejects a cursor that was changed, cut, or made for another list", async () => {
    const partner = await createPartner(test);
    const { nextCursor } = await readFeedPage(partner);
    const cursor = nextCursor ?? "";
    const products = (await partner.client.get("/v1/products?limit=1")).body.nextCursor;
    const changed = Array.from(cursor, (sign, at) => {
      const other = sign === "A" ? "B" : "A";
      return cursor.slice(0, at) + other + cursor.slice(at + 1);
    });
    for (const bad of [...changed, cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, products])
      expectErrors(await partner.client.get(`/v1/events?cursor=${bad}`), [{ parameter: "cursor" }]);
    for (const list of ["products", "webhook-endpoints", "deliveries"])
      expectErrors(await partner.client.get(`/v1/${list}?cursor=${cursor}`), [{ parameter: "cursor" }]);
  });

  it("shows an event for 30 days", async () => {
    const partner = await createPartner(test);
    const { data } = await readFeedPage(partner);
    const path = `/v1/events/${data[0]?.id}`;
    test.clock.advance({ hours: 30 * 24 });
    expect((await readFeedPage(partner)).data).toEqual(data);
    expect((await partner.client.get(path)).status).toBe(200);
    test.clock.advance({ ms: 1 });
    expect(await readFeedPage(partner)).toEqual({ data: [], nextCursor: null });
    expectProblem(await partner.client.get(path), 404, "not-found");
    await createExposedProduct(test, partner.merchantId, partner.connectionId);
    expect((await readFeedPage(partner)).data).toHaveLength(1);
  });
});

describe("GET /v1/events/{eventId}", () => {
  it("returns the event as the list does", async () => {
    const partner = await createPartner(test);
    await placeOrder(partner);
    for (const event of (await readFeedPage(partner)).data)
      expect((await partner.client.get(`/v1/events/${event.id}`)).body).toEqual(event);
  });

  it("is 404, with the same response for another connection's, a missing and a malformed id", async () => {
    const partner = await createPartner(test);
    const [theirs] = (await readFeedPage(await createPartner(test))).data;
    const missing = await partner.client.get("/v1/events/evt_01m7y7np16fe68bxp4h91tdmdn");
    expectProblem(missing, 404, "not-found");
    for (const id of [theirs?.id, "x", theirs?.id.replace("evt_", "dlv_")])
      expect(withoutItsOwn(await partner.client.get(`/v1/events/${id}`))).toBe(withoutItsOwn(missing));
  });
});
