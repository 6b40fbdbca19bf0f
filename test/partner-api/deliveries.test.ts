import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeOrder, placeTestOrder, readEvents } from "../support/builders.ts";
import { expectFaults, expectProblem, withoutItsOwn } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { attempt, createEndpoint, deliver, endpointPath, uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

type Sent = { partner: Partner; endpointId: string; order: { id: string; externalOrderId: string } };

/** A partner with an endpoint and an order. */
async function aSender(place = placeOrder): Promise<Sent> {
  const partner = await createPartner(test);
  const { id: endpointId } = await createEndpoint(partner);
  return { partner, endpointId, order: await place(partner) };
}

/** The event of an order's creation. */
async function createdEvent({ partner }: Pick<Sent, "partner">, orderId: string): Promise<string> {
  const events = await readEvents(test, partner.connectionId);
  return events.find(({ type, data }) => type === "order.created" && data.order.id === orderId).id;
}

/** The delivery of an order's creation; answers its id. */
const deliverOrder = async (
  sent: Sent,
  options?: Parameters<typeof deliver>[3],
  { endpointId, order }: Pick<Sent, "endpointId" | "order"> = sent,
): Promise<string> => deliver(test, endpointId, await createdEvent(sent, order.id), options);

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
  it("answers a delivery that was not tried yet", async () => {
    const sent = await aSender();
    const dueAt = new Date(test.clock.now().getTime() + 5_000);
    const id = await deliverOrder(sent, { due: { dueAt } });
    expect(await readDelivery(sent, id)).toEqual({
      id,
      endpointId: sent.endpointId,
      eventId: await createdEvent(sent, sent.order.id),
      eventType: "order.created",
      orderId: sent.order.id,
      status: "pending",
      nextAttemptAt: dueAt.toISOString(),
      createdAt: test.clock.now().toISOString(),
      attempts: [],
    });
  });

  it("shows every attempt by time, whatever asked for it", async () => {
    const sent = await aSender();
    const id = await deliverOrder(sent, { status: "succeeded" });
    const createdAt = test.clock.now().toISOString();
    const times: string[] = [];
    const tries = [
      { durationMs: null, responseStatus: null, responseBody: null, error: "The worker ended." },
      { responseStatus: 500, responseBody: "no", error: "It answered 500." },
      { cause: "recovery", responseStatus: null, responseBody: null, error: "No connection." },
      { cause: "manual", durationMs: 7, responseBody: "thanks" },
    ];
    for (const fields of tries) {
      test.clock.advance({ minutes: 1 });
      times.push(test.clock.now().toISOString());
      await attempt(test, sent.partner, id, fields);
    }
    const { attempts, ...delivery } = await readDelivery(sent, id);
    expect(delivery).toMatchObject({ status: "succeeded", nextAttemptAt: null, createdAt });
    const common = {
      trigger: "schedule",
      durationMs: 12,
      responseStatus: 200,
      responseBody: "",
      error: null,
    };
    expect(attempts).toEqual(
      tries.map(({ cause, ...fields }, index) => ({
        ...common,
        ...fields,
        number: index + 1,
        startedAt: times[index],
        trigger: cause ?? "schedule",
      })),
    );
  });

  it("plans no next attempt while one is under way, unless another is asked for by hand", async () => {
    const sent = await aSender();
    const id = await deliverOrder(sent, { due: { claimed: true } });
    expect((await readDelivery(sent, id)).nextAttemptAt).toBeNull();
    await deliverOrder(sent, { due: { cause: "manual" } });
    expect((await readDelivery(sent, id)).nextAttemptAt).toBe(test.clock.now().toISOString());
  });

  it("plans none for a delivery that waits for an earlier one of its order", async () => {
    const sent = await aSender();
    const first = await deliverOrder(sent, { due: {} });
    await sent.partner.client.post(`/v1/orders/${sent.order.id}/cancel`);
    const canceled = (await readEvents(test, sent.partner.connectionId)).find(
      ({ type }) => type === "order.canceled",
    );
    const second = await deliver(test, sent.endpointId, canceled.id);
    expect((await readDelivery(sent, first)).nextAttemptAt).not.toBeNull();
    expect(await readDelivery(sent, second)).toMatchObject({ status: "pending", nextAttemptAt: null });
  });

  it("names a test order by its own prefix, and is gone when the order is", async () => {
    const sent = await aSender(placeTestOrder);
    const id = await deliverOrder(sent);
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
    const theirId = await deliverOrder(theirs);
    const { client } = sent.partner;
    for (const step of ["", "/redeliver"]) {
      const ask = (id: string) => client.request(step === "" ? "GET" : "POST", `/v1/deliveries/${id}${step}`);
      const missing = await ask("dlv_01m7y7np16fe68bxp4h91tdmdn");
      expectProblem(missing, 404, "not-found");
      for (const id of [theirId, "x", theirId.replace("dlv_", "evt_")])
        expect(withoutItsOwn(await ask(id))).toBe(withoutItsOwn(missing));
    }
    expect(await idsIn(sent)).toEqual([]);
  });
});

describe("GET /v1/deliveries", () => {
  it("lists deliveries with their attempts, the newest event first", async () => {
    const sent = await aSender();
    const first = await deliverOrder(sent);
    test.clock.advance({ seconds: 1 });
    const order = await placeOrder(sent.partner);
    const second = await deliverOrder(sent, {}, { ...sent, order });
    await attempt(test, sent.partner, first);
    await attempt(test, sent.partner, second);
    await attempt(test, sent.partner, first, { cause: "manual" });
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
    const sent = await aSender();
    const other = { ...sent, endpointId: (await createEndpoint(sent.partner)).id };
    const laterOrder = { ...sent, order: await placeOrder(sent.partner) };
    const one = await deliverOrder(sent, { status: "succeeded" });
    const two = await deliverOrder(sent, {}, other);
    const three = await deliverOrder(sent, { status: "failed" }, laterOrder);
    const event = await createdEvent(sent, sent.order.id);
    const all = [one, two, three].sort((a, b) => (uuidIn("dlv", a) < uuidIn("dlv", b) ? 1 : -1));
    const expected: [query: string, ids: string[]][] = [
      ["", [one, two, three]],
      [`?endpointId=${sent.endpointId}`, [one, three]],
      [`?endpointId=${other.endpointId}`, [two]],
      [`?orderId=${sent.order.id}`, [one, two]],
      [`?orderId=${sent.order.externalOrderId}`, [one, two]],
      [`?eventId=${event}`, [one, two]],
      ["?status=succeeded", [one]],
      ["?status=pending", [two]],
      ["?status=failed", [three]],
      [`?endpointId=${sent.endpointId}&status=failed`, [three]],
      [`?orderId=${sent.order.id}&endpointId=${other.endpointId}`, [two]],
      [`?orderId=${laterOrder.order.id}&endpointId=${other.endpointId}`, []],
      [`?orderId=${laterOrder.order.id}&eventId=${event}`, []],
      [`?orderId=${sent.order.id}&endpointId=${sent.endpointId}&eventId=${event}&status=succeeded`, [one]],
    ];
    for (const [query, ids] of expected)
      expect(await idsIn(sent, query), query).toEqual(all.filter((id) => ids.includes(id)));
  });

  it("is empty for a filter that names nothing, or something of another connection", async () => {
    const sent = await aSender();
    const theirs = await aSender();
    await deliverOrder(sent);
    await deliverOrder(theirs);
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
    const ids: string[] = [];
    for (let count = 0; count < 52; count += 1) {
      const order = await placeOrder(sent.partner);
      ids.unshift(await deliverOrder(sent, {}, { ...sent, order }));
    }
    const { body } = await sent.partner.client.get("/v1/deliveries");
    expect(body.data).toHaveLength(50);
    expect(await idsIn(sent, "?limit=100")).toEqual(ids);

    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 6; page += 1) {
      const answer = await sent.partner.client.get(`/v1/deliveries?limit=10${cursor}`);
      seen.push(...answer.body.data.map(({ id }: { id: string }) => id));
      const order = await placeOrder(sent.partner);
      await deliverOrder(sent, {}, { ...sent, order });
      cursor = `&cursor=${answer.body.nextCursor}`;
      if (answer.body.nextCursor === null) break;
    }
    expect(seen).toEqual(ids);
  });

  it("refuses a cursor that was changed, cut, or made for another list", async () => {
    const sent = await aSender();
    await deliverOrder(sent);
    await deliverOrder(sent, {}, { ...sent, order: await placeOrder(sent.partner) });
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
