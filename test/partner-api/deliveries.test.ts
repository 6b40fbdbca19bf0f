import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { runChore } from "../support/chores.ts";
import { startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import {
  cancelOrder,
  connectionUuid,
  expectFaults,
  expectProblem,
  withoutItsOwn,
} from "../support/orders.ts";
import type { ReceiverHandler } from "../support/receivers.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import {
  createEndpoint,
  deliveryOf,
  endpointPath,
  loseWorker,
  pauseEndpoint,
  uuidIn,
} from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  // A schedule without a second try: what fails is given up.
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [] } });
});
afterAll(() => test.close());

type Sent = { partner: Partner; endpointId: string; order: { id: string; externalOrderId: string } };

/** A partner with an endpoint and an order, whose creation waits to be sent. */
async function aSender({
  place = placeOrder,
  url,
}: {
  place?: typeof placeOrder;
  url?: string;
} = {}): Promise<Sent> {
  const partner = await createPartner(test);
  const { id: endpointId } = await createEndpoint(partner, url === undefined ? {} : { url });
  return { partner, endpointId, order: await place(partner) };
}

/** The same with a receiver behind the endpoint, that answers as it is told to. */
async function aSenderTo(handler: ReceiverHandler): Promise<Sent & { send: () => Promise<void> }> {
  const { url } = await startReceiverForTest(handler);
  const sent = await aSender({ url });
  return { ...sent, send: () => sendFor(sent) };
}

/** Sends what is due to this partner alone: the endpoints of the others lead to nowhere. */
async function sendFor({ partner }: Pick<Sent, "partner">): Promise<void> {
  const dispatcher = startDispatcher(test);
  dispatcher.wake([connectionUuid(partner)]);
  await dispatcher.idle();
}

const answering =
  (status: number): ReceiverHandler =>
  (_, response) =>
    response.writeHead(status).end();

/** The event of an order's creation. */
async function createdEvent({ partner }: Pick<Sent, "partner">, orderId: string): Promise<string> {
  const events = await readEvents(test, partner.connectionId);
  return events.find(({ type, data }) => type === "order.created" && data.order.id === orderId).id;
}

/** The delivery of an order's creation; answers its id. */
const deliveryOfOrder = (
  { partner, endpointId, order }: Sent,
  which: Partial<Pick<Sent, "endpointId" | "order">> = {},
): Promise<string> => deliveryOf(partner, which.endpointId ?? endpointId, which.order?.id ?? order.id);

const redeliver = ({ partner }: Pick<Sent, "partner">, id: string) =>
  partner.client.post(`/v1/deliveries/${id}/redeliver`);

async function readDelivery({ partner }: Pick<Sent, "partner">, id: string) {
  const { status, body } = await partner.client.get(`/v1/deliveries/${id}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function idsIn({ partner }: Pick<Sent, "partner">, query = ""): Promise<string[]> {
  const { status, body } = await partner.client.get(`/v1/deliveries${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ id }: { id: string }) => id);
}

describe("GET /v1/deliveries/{deliveryId}", () => {
  it("answers a delivery that was not tried yet, which is due at once", async () => {
    const sent = await aSender();
    const id = await deliveryOfOrder(sent);
    const now = test.clock.now().toISOString();
    expect(await readDelivery(sent, id)).toEqual({
      id,
      endpointId: sent.endpointId,
      eventId: await createdEvent(sent, sent.order.id),
      eventType: "order.created",
      orderId: sent.order.id,
      status: "pending",
      nextAttemptAt: now,
      createdAt: now,
      attempts: [],
    });
  });

  it("shows every attempt by time, whatever asked for it", async () => {
    const answers: ReceiverHandler[] = [
      (_, response) => response.writeHead(500).end("no"),
      (_, response) => response.destroy(),
      (_, response) => response.end("thanks"),
    ];
    const sent = await aSenderTo((request, response) => answers.shift()?.(request, response));
    const id = await deliveryOfOrder(sent);
    const createdAt = test.clock.now().toISOString();
    const times: string[] = [];
    const oneMinuteLater = () => {
      test.clock.advance({ minutes: 1 });
      times.push(test.clock.now().toISOString());
    };
    oneMinuteLater();
    await sent.send();
    oneMinuteLater();
    await sent.partner.client.post(endpointPath(sent.endpointId, "recover"), { since: createdAt });
    await runChore(test, "recover-deliveries");
    await sent.send();
    oneMinuteLater();
    await redeliver(sent, id);
    await loseWorker(test, uuidIn("whe", sent.endpointId));
    oneMinuteLater();
    await sent.send();
    const delivery = await readDelivery(sent, id);
    expect(delivery).toMatchObject({ status: "succeeded", nextAttemptAt: null, createdAt });
    const durationMs = expect.any(Number);
    const unanswered = { responseStatus: null, responseBody: null };
    expect(delivery.attempts).toEqual(
      [
        { trigger: "schedule", durationMs, responseStatus: 500, responseBody: "no", error: "status 500" },
        { trigger: "recovery", durationMs, ...unanswered, error: "connection closed" },
        {
          trigger: "manual",
          durationMs: null,
          ...unanswered,
          error: "outcome unknown: the worker ended during the attempt",
        },
        { trigger: "manual", durationMs, responseStatus: 200, responseBody: "thanks", error: null },
      ].map((attempt, index) => ({ ...attempt, number: index + 1, startedAt: times[index] })),
    );
  });

  it("plans no next attempt while one is under way, unless another is asked for by hand", async () => {
    let answer = () => {};
    const { url, waitFor } = await startReceiverForTest((_, response) => {
      answer = () => response.end();
    });
    const sent = await aSender({ url });
    const id = await deliveryOfOrder(sent);
    const isSent = sendFor(sent);
    await waitFor(1);
    expect(await readDelivery(sent, id)).toMatchObject({ nextAttemptAt: null, attempts: [] });
    await redeliver(sent, id);
    expect((await readDelivery(sent, id)).nextAttemptAt).toBe(test.clock.now().toISOString());
    answer();
    await isSent;
  });

  it("plans none for a delivery that waits for an earlier one of its order", async () => {
    const sent = await aSender();
    await cancelOrder(sent.partner, sent.order.id);
    const first = await deliveryOfOrder(sent);
    const second = await deliveryOf(sent.partner, sent.endpointId, sent.order.id, "order.canceled");
    expect((await readDelivery(sent, first)).nextAttemptAt).not.toBeNull();
    expect(await readDelivery(sent, second)).toMatchObject({ status: "pending", nextAttemptAt: null });
  });

  it("names a test order by its own prefix, and is gone when the order is", async () => {
    const sent = await aSender({ place: placeTestOrder });
    const id = await deliveryOfOrder(sent);
    test.clock.advance({ seconds: 7_199 });
    expect((await readDelivery(sent, id)).orderId).toBe(sent.order.id);
    expect(sent.order.id).toMatch(/^test_/);
    test.clock.advance({ seconds: 1 });
    expectProblem(await sent.partner.client.get(`/v1/deliveries/${id}`), 404, "not-found");
    expect(await idsIn(sent)).toEqual([]);
  });

  it("has no order when the event is about none", async () => {
    const { partner, endpointId } = await aSender();
    const { body } = await partner.client.post(endpointPath(endpointId, "ping"));
    expect(await readDelivery({ partner }, body.id)).toEqual(body);
    expect(body.orderId).toBeNull();
  });
});

describe("a delivery that is not there", () => {
  it("is 404: another connection's exactly as a missing and a malformed one", async () => {
    const sent = await aSender();
    const theirs = await aSender();
    const [ownId, theirId] = [await deliveryOfOrder(sent), await deliveryOfOrder(theirs)];
    const { client } = sent.partner;
    for (const step of ["", "/redeliver"]) {
      const ask = (id: string) => client.request(step === "" ? "GET" : "POST", `/v1/deliveries/${id}${step}`);
      const missing = await ask("dlv_01m7y7np16fe68bxp4h91tdmdn");
      expectProblem(missing, 404, "not-found");
      for (const id of [theirId, "x", theirId.replace("dlv_", "evt_")])
        expect(withoutItsOwn(await ask(id))).toBe(withoutItsOwn(missing));
    }
    expect(await idsIn(sent)).toEqual([ownId]);
  });
});

describe("GET /v1/deliveries", () => {
  it("lists deliveries with their attempts, the newest event first", async () => {
    const sent = await aSenderTo(answering(200));
    const first = await deliveryOfOrder(sent);
    test.clock.advance({ seconds: 1 });
    const second = await deliveryOfOrder(sent, { order: await placeOrder(sent.partner) });
    await sent.send();
    await redeliver(sent, first);
    await sent.send();
    const { body } = await sent.partner.client.get("/v1/deliveries");
    expect(body).toEqual({
      data: [await readDelivery(sent, second), await readDelivery(sent, first)],
      nextCursor: null,
    });
    const triggers = body.data.map(({ attempts }: { attempts: { number: number; trigger: string }[] }) =>
      attempts.map(({ number, trigger }) => `${number} ${trigger}`),
    );
    expect(triggers).toEqual([["1 schedule"], ["1 schedule", "2 manual"]]);
  });

  it("is narrowed by endpoint, order, event and status, and by all of them", async () => {
    let status = 200;
    const sent = await aSenderTo((request, response) => answering(status)(request, response));
    await sent.send();
    const other = { endpointId: (await createEndpoint(sent.partner)).id };
    await pauseEndpoint(test, other.endpointId); // So its delivery waits.
    status = 500;
    const later = { order: await placeOrder(sent.partner) };
    await sent.send();
    const one = await deliveryOfOrder(sent);
    const two = await deliveryOfOrder(sent, { ...other, ...later });
    const three = await deliveryOfOrder(sent, later);
    const event = await createdEvent(sent, later.order.id);
    const all = [one, two, three].sort((a, b) => (uuidIn("dlv", a) < uuidIn("dlv", b) ? 1 : -1));
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
      expect(await idsIn(sent, query), query).toEqual(all.filter((id) => ids.includes(id)));
  });

  it("is empty for a filter that names nothing, or something of another connection", async () => {
    const sent = await aSender();
    const theirs = await aSender();
    for (const query of [
      "endpointId=whe_01m7y7np16fe68bxp4h91tdmdn",
      `endpointId=${theirs.endpointId}`,
      "eventId=evt_01m7y7np16fe68bxp4h91tdmdn",
      `eventId=${await createdEvent(theirs, theirs.order.id)}`,
      "orderId=ord_01m7y7np16fe68bxp4h91tdmdn",
      "orderId=nothing",
      `orderId=${theirs.order.id}`,
      `orderId=${theirs.order.externalOrderId}`,
      `orderId=${sent.order.id.replace("ord_", "test_")}`,
    ])
      expect(await idsIn(sent, `?${query}`), query).toEqual([]);
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
    "limit=0",
    "limit=101",
    "cursor=x",
    "cursor=",
  ])("refuses %s", async (query) => {
    const { partner } = await aSender();
    const [parameter = ""] = query.split("=");
    expectFaults(await partner.client.get(`/v1/deliveries?${query}`), [{ parameter }]);
  });

  it("tells all malformed ids at once", async () => {
    const { partner } = await aSender();
    const answer = await partner.client.get("/v1/deliveries?endpointId=x&eventId=y");
    expectFaults(answer, [{ parameter: "endpointId" }, { parameter: "eventId" }]);
  });

  it("pages by 50, or by the limit, without a gap while newer ones come", async () => {
    const sent = await aSender();
    const ids = [await deliveryOfOrder(sent)];
    while (ids.length < 52)
      ids.unshift(await deliveryOfOrder(sent, { order: await placeOrder(sent.partner) }));
    const { body } = await sent.partner.client.get("/v1/deliveries");
    expect(body.data).toHaveLength(50);
    expect(await idsIn(sent, "?limit=100")).toEqual(ids);

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

  it("refuses a cursor that was changed, cut, or made for another list", async () => {
    const sent = await aSender();
    await placeOrder(sent.partner);
    const { client } = sent.partner;
    const { nextCursor } = (await client.get("/v1/deliveries?limit=1")).body;
    const flipped = (nextCursor[0] === "A" ? "B" : "A") + nextCursor.slice(1);
    const products = (await client.get("/v1/products?limit=1")).body.nextCursor;
    const events = (await client.get("/v1/events?limit=1")).body.nextCursor;
    for (const cursor of [flipped, nextCursor.slice(0, -1), `${nextCursor}A`, products, events])
      expectFaults(await client.get(`/v1/deliveries?cursor=${cursor}`), [{ parameter: "cursor" }]);
    expectFaults(await client.get(`/v1/events?cursor=${nextCursor}`), [{ parameter: "cursor" }]);
  });
});
