import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { loseWorker } from "../support/webhooks.ts";

const startTest = () => startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });

it("every event of an order arrives signed, in the order in which the events happened", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest();
  const { secret } = await storeEndpoint(test, partner, { url: receiver.url });
  const order = await placeTestOrder(partner);
  for (const name of ["hold", "releaseHold", "ship", "complete", "returnShipment"])
    await transition(partner, order.id, name);
  await sendDue(startDispatcher(test));
  expect(received(receiver)).toEqual(
    [
      "order.created",
      "order.onHold",
      "order.onHoldReleased",
      "order.shipmentCreated",
      "order.completed",
      "order.shipmentReturned",
    ].map((type, index) => ({ type, sequence: index + 1, orderId: order.id })),
  );
  expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(Array(6).fill("succeeded"));
  expect(await readAttempts(test)).toHaveLength(6);
  for (const { body, headers } of receiver.requests) {
    const signed = headers as Record<string, string>;
    // The library compares the timestamp with the real time, so a test with a fixed clock verifies by hand.
    expect(signed["webhook-id"]).toBe(JSON.parse(body).id);
    const wh = new Webhook(secret);
    const at = new Date(1_000 * Number(signed["webhook-timestamp"]));
    expect(wh.sign(signed["webhook-id"] ?? "", at, body)).toBe(signed["webhook-signature"]);
  }
});

it("an endpoint receives only the types it names, and only of its own connection", async () => {
  const test = await startTest();
  const [partner, other] = [await createPartner(test), await createPartner(test)];
  const receiver = await startReceiverForTest();
  await storeEndpoint(test, partner, { url: receiver.url, eventTypes: ["order.canceled"] });
  const order = await placeOrder(partner);
  await placeOrder(other);
  await partner.client.post(`/v1/orders/${order.id}/cancel`);
  await sendDue(startDispatcher(test));
  expect(received(receiver)).toEqual([{ type: "order.canceled", sequence: 2, orderId: order.id }]);
});

it("several endpoints of a connection receive the same event under the same id", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receivers = [await startReceiverForTest(), await startReceiverForTest()];
  for (const { url } of receivers) await storeEndpoint(test, partner, { url });
  await placeOrder(partner);
  await sendDue(startDispatcher(test));
  const ids = receivers.map(({ requests }) => requests.map(({ headers }) => headers["webhook-id"]));
  expect(ids[0]).toHaveLength(1);
  expect(ids[1]).toEqual(ids[0]);
});

it("a failed delivery delays the later ones of its order, and no other order", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  let rejected: string | null = null;
  const receiver = await startReceiverForTest(({ body }, response) => {
    response.statusCode = JSON.parse(body).data.order.id === rejected ? 500 : 200;
    response.end();
  });
  await storeEndpoint(test, partner, { url: receiver.url });
  const [slow, other] = [await placeTestOrder(partner), await placeTestOrder(partner)];
  rejected = slow.id;
  for (const { id } of [slow, other]) await transition(partner, id, "hold");
  const dispatcher = startDispatcher(test);
  await sendDue(dispatcher);
  const of = (id: string) =>
    received(receiver)
      .filter(({ orderId }) => orderId === id)
      .map(({ sequence }) => sequence);
  expect(of(other.id)).toEqual([1, 2]);
  expect(of(slow.id)).toEqual([1]);
  rejected = null;
  await sendDue(dispatcher);
  expect(of(slow.id)).toEqual([1]);
  test.clock.advance({ seconds: 6 });
  await sendDue(dispatcher);
  expect(of(slow.id)).toEqual([1, 1, 2]);
});

it("a delivery fails after the last attempt of the schedule, and the next one is sent", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest(({ body }, response) => {
    response.statusCode = JSON.parse(body).type === "order.created" ? 500 : 204;
    response.end();
  });
  await storeEndpoint(test, partner, { url: receiver.url });
  const order = await placeOrder(partner);
  await partner.client.post(`/v1/orders/${order.id}/cancel`);
  const dispatcher = startDispatcher(test);
  for (let hours = 0; hours < 100; hours += 1) {
    await sendDue(dispatcher);
    test.clock.advance({ hours: 1, minutes: 5 });
  }
  const types = received(receiver).map(({ type }) => type);
  expect(types).toEqual([...Array(13).fill("order.created"), "order.canceled"]);
  expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  expect(await readAttempts(test)).toHaveLength(14);
  const ids = receiver.requests.slice(0, 13).map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(1);
  const timestamps = receiver.requests.map(({ headers }) => headers["webhook-timestamp"]);
  expect(new Set(timestamps).size).toBeGreaterThan(12);
});

it("an endpoint has at most maxInFlight requests in flight, also with two workers", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  let [inFlight, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const receiver = await startReceiverForTest((_, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    waiting.push(() => {
      inFlight -= 1;
      response.end();
    });
    if (waiting.length >= 2) for (const answer of waiting.splice(0)) answer();
  });
  await storeEndpoint(test, partner, { url: receiver.url, inFlightMax: 3 });
  for (let count = 0; count < 30; count += 1) await placeOrder(partner);
  const dispatchers = [startDispatcher(test), startDispatcher(test)];
  await Promise.all(dispatchers.map(sendDue));
  expect(receiver.requests).toHaveLength(30);
  expect(most).toBeGreaterThanOrEqual(2);
  expect(most).toBeLessThanOrEqual(3);
});

it("410 pauses the endpoint: nothing is sent after it, and pending deliveries stay in the log", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = 410;
    response.end();
  });
  await storeEndpoint(test, partner, { url: receiver.url, inFlightMax: 1 });
  for (let count = 0; count < 5; count += 1) await placeOrder(partner);
  const dispatcher = startDispatcher(test);
  await sendDue(dispatcher);
  await placeOrder(partner);
  test.clock.advance({ hours: 3 });
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(1);
  expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(Array(6).fill("pending"));
});

it("a claim whose worker has ended is sent again after its lease, with the same id, and the lost attempt is recorded", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest();
  const endpoint = await storeEndpoint(test, partner, { url: receiver.url });
  await placeOrder(partner);
  await loseWorker(test, endpoint.id);
  const dispatcher = startDispatcher(test);
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(0);
  test.clock.advance({ seconds: 61 });
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(1);
  expect((await readAttempts(test)).map(({ error, responseStatus }) => ({ error, responseStatus }))).toEqual([
    { error: "outcome unknown: the worker ended during the attempt", responseStatus: null },
    { error: null, responseStatus: 200 },
  ]);
});

it("an endpoint that fails ten times in a row gets nothing during its backoff, and then one delivery", async () => {
  const test = await startTest();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = 503;
    response.end();
  });
  await storeEndpoint(test, partner, { url: receiver.url });
  for (let count = 0; count < 40; count += 1) await placeOrder(partner);
  const dispatcher = startDispatcher(test);
  await sendDue(dispatcher);
  const first = receiver.requests.length;
  expect(first).toBeGreaterThanOrEqual(10);
  expect(first).toBeLessThan(18);
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(first);
  test.clock.advance({ seconds: 5 });
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(first + 1);
});
