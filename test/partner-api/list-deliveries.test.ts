import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import {
  aSender,
  aSenderTo,
  createdEvent,
  deliveryOfOrder,
  listedIds,
  ONE_TRY,
  readDelivery,
  redeliver,
  withoutRequests,
} from "../support/deliveries.ts";
import { expectErrors } from "../support/orders.ts";
import { answering } from "../support/receivers.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { createEndpoint, endpointPath, pauseEndpoint, uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: ONE_TRY });
});
afterAll(() => test.close());

const newestFirst = (a: string, b: string) => (uuidIn("dlv", a) < uuidIn("dlv", b) ? 1 : -1);

describe("GET /v1/deliveries", () => {
  it("lists deliveries with their attempts, the newest event first", async () => {
    const sent = await aSenderTo(test, answering(200));
    const first = await deliveryOfOrder(sent);
    test.clock.advance({ seconds: 1 });
    const second = await deliveryOfOrder(sent, { order: await placeOrder(sent.partner) });
    await sent.send();
    await redeliver(sent.partner, first);
    await sent.send();
    const { body } = await sent.partner.client.get("/v1/deliveries");
    expect(body).toEqual({
      data: [
        withoutRequests(await readDelivery(sent.partner, second)),
        withoutRequests(await readDelivery(sent.partner, first)),
      ],
      nextCursor: null,
    });
    const triggers = body.data.map(({ attempts }: { attempts: { number: number; trigger: string }[] }) =>
      attempts.map(({ number, trigger }) => `${number} ${trigger}`),
    );
    expect(triggers).toEqual([["1 schedule"], ["1 schedule", "2 manual"]]);
  });

  it("is filtered by endpoint, order, event and status, and by all of them", async () => {
    let status = 200;
    const sent = await aSenderTo(test, (request, response) => answering(status)(request, response));
    await sent.send();
    const other = { endpointId: (await createEndpoint(sent.partner)).id };
    await pauseEndpoint(test, other.endpointId); // So its delivery waits.
    status = 500;
    const later = { order: await placeOrder(sent.partner) };
    await sent.send();
    const one = await deliveryOfOrder(sent);
    const two = await deliveryOfOrder(sent, { ...other, ...later });
    const three = await deliveryOfOrder(sent, later);
    const event = await createdEvent(test, sent.partner, later.order.id);
    const all = [one, two, three].sort(newestFirst);
    const expected: [query: string, ids: string[]][] = [
      ["", [one, two, three]],
      [`?endpointId=${sent.endpointId}`, [one, three]],
      [`?endpointId=${other.endpointId}`, [two]],
      [`?orderId=${later.order.id}`, [two, three]],
      [`?orderId=${later.order.externalOrderId}`, [two, three]],
      [`?eventId=${event}`, [two, three]],
      ["?status=succeeded", [one]],
      ["?status=pending", [two]],
      ["?status=failed", [three]],
      [`?endpointId=${sent.endpointId}&status=failed`, [three]],
      [`?orderId=${later.order.id}&endpointId=${other.endpointId}`, [two]],
      [`?orderId=${sent.order.id}&endpointId=${other.endpointId}`, []],
      [`?orderId=${sent.order.id}&eventId=${event}`, []],
      [`?orderId=${later.order.id}&endpointId=${sent.endpointId}&eventId=${event}&status=failed`, [three]],
    ];
    for (const [query, ids] of expected)
      expect(await listedIds(sent.partner, query), query).toEqual(all.filter((id) => ids.includes(id)));
  });

  it("is filtered by event type, time and failed attempts, and by all of them", async () => {
    let status = 500;
    const sent = await aSenderTo(test, (request, response) => answering(status)(request, response));
    await sent.send();
    const failed = await deliveryOfOrder(sent);
    await redeliver(sent.partner, failed);
    status = 200;
    await sent.send(); // It failed first, and succeeded then.
    test.clock.advance({ seconds: 10 });
    const later = test.clock.now().toISOString();
    const good = await deliveryOfOrder(sent, { order: await placeOrder(sent.partner) });
    await sent.send();
    const ping = (await sent.partner.client.post(endpointPath(sent.endpointId, "ping"))).body.id;
    const expected: [query: string, ids: string[]][] = [
      ["eventType=order.created", [good, failed]],
      ["eventType=webhook.ping", [ping]],
      ["eventType=order.canceled", []],
      [`since=${later}`, [ping, good]],
      [`until=${later}`, [failed]],
      [`since=${later}&until=${later}`, []],
      ["since=1960-01-01T00:00:00Z", [ping, good, failed]],
      ["until=1960-01-01T00:00:00Z", []],
      ["until=2016-12-31T23:59:60Z", []],
      ["since=9999-12-31T23:59:59Z", []],
      ["hasFailedAttempts=true", [failed]],
      ["hasFailedAttempts=false", [ping, good]],
      ["hasFailedAttempts=true&status=succeeded", [failed]],
      ["hasFailedAttempts=true&status=failed", []],
      [`hasFailedAttempts=true&orderId=${sent.order.id}`, [failed]],
      [`hasFailedAttempts=false&orderId=${sent.order.id}`, []],
      [
        `hasFailedAttempts=false&endpointId=${sent.endpointId}&eventType=order.created&since=${later}`,
        [good],
      ],
    ];
    for (const [query, ids] of expected)
      expect(await listedIds(sent.partner, `?${query}`), query).toEqual(ids.toSorted(newestFirst));
  });

  it("is empty if a filter matches nothing, or something of another connection", async () => {
    const sent = await aSender(test);
    const theirs = await aSender(test);
    for (const query of [
      "endpointId=whe_01m7y7np16fe68bxp4h91tdmdn",
      `endpointId=${theirs.endpointId}`,
      "eventId=evt_01m7y7np16fe68bxp4h91tdmdn",
      `eventId=${await createdEvent(test, theirs.partner, theirs.order.id)}`,
      "orderId=ord_01m7y7np16fe68bxp4h91tdmdn",
      "orderId=nothing",
      `orderId=${theirs.order.id}`,
      `orderId=${theirs.order.externalOrderId}`,
      `orderId=${sent.order.id.replace("ord_", "test_")}`,
    ])
      expect(await listedIds(sent.partner, `?${query}`), query).toEqual([]);
  });

  it.each([
    "endpointId=x",
    "endpointId=dlv_01m7y7np16fe68bxp4h91tdmdn",
    "endpointId=",
    "eventId=x",
    "eventId=whe_01m7y7np16fe68bxp4h91tdmdn",
    "orderId=",
    `orderId=${"x".repeat(201)}`,
    "status=done",
    "status=",
    "eventType=order.shipped",
    "since=yesterday",
    "until=",
    "hasFailedAttempts=yes",
    "limit=0",
    "limit=101",
    "cursor=x",
    "cursor=",
  ])("rejects %s", async (query) => {
    const { partner } = await aSender(test);
    const [parameter = ""] = query.split("=");
    expectErrors(await partner.client.get(`/v1/deliveries?${query}`), [{ parameter }]);
  });

  it("reports all malformed ids at once", async () => {
    const { partner } = await aSender(test);
    const answer = await partner.client.get("/v1/deliveries?endpointId=x&eventId=y");
    expectErrors(answer, [{ parameter: "endpointId" }, { parameter: "eventId" }]);
  });

  it("has pages of 50, or of the limit, without a gap while newer ones are added", async () => {
    const sent = await aSender(test);
    const ids = [await deliveryOfOrder(sent)];
    while (ids.length < 52)
      ids.unshift(await deliveryOfOrder(sent, { order: await placeOrder(sent.partner) }));
    const { body } = await sent.partner.client.get("/v1/deliveries");
    expect(body.data).toHaveLength(50);
    expect(await listedIds(sent.partner, "?limit=100")).toEqual(ids);

    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 6; page += 1) {
      const answer = await sent.partner.client.get(`/v1/deliveries?limit=10${cursor}`);
      seen.push(...answer.body.data.map(({ id }: { id: string }) => id));
      await placeOrder(sent.partner);
      cursor = `&cursor=${answer.body.nextCursor}`;
      if (answer.body.nextCursor === null) break;
    }
    expect(seen).toEqual(ids);
  });

  it("rejects a cursor that was changed, cut, or made for another list", async () => {
    const sent = await aSender(test);
    await placeOrder(sent.partner);
    const { client } = sent.partner;
    const { nextCursor } = (await client.get("/v1/deliveries?limit=1")).body;
    const flipped = (nextCursor[0] === "A" ? "B" : "A") + nextCursor.slice(1);
    const products = (await client.get("/v1/products?limit=1")).body.nextCursor;
    const events = (await client.get("/v1/events?limit=1")).body.nextCursor;
    for (const cursor of [flipped, nextCursor.slice(0, -1), `${nextCursor}A`, products, events])
      expectErrors(await client.get(`/v1/deliveries?cursor=${cursor}`), [{ parameter: "cursor" }]);
    expectErrors(await client.get(`/v1/events?cursor=${nextCursor}`), [{ parameter: "cursor" }]);
  });
});
