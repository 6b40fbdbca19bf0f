import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  aSender,
  aSenderTo,
  createdEvent,
  deliveryOfOrder,
  listedIds,
  ONE_TRY,
  readDelivery,
  redeliver,
  sendFor,
  withoutRequests,
} from "../support/deliveries.ts";
import { startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { cancelOrder, expectProblem, withoutItsOwn } from "../support/orders.ts";
import type { ReceiverHandler } from "../support/receivers.ts";
import { startTestService, type TestService } from "../support/test-service.ts";
import { deliveryOf, endpointPath, loseWorker, uuidIn } from "../support/webhooks.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: ONE_TRY });
});
afterAll(() => test.close());

describe("GET /v1/deliveries/{deliveryId}", () => {
  it("returns a delivery without an attempt, which is due at once", async () => {
    const sent = await aSender(test);
    const id = await deliveryOfOrder(sent);
    const now = test.clock.now().toISOString();
    expect(await readDelivery(sent.partner, id)).toEqual({
      id,
      endpointId: sent.endpointId,
      eventId: await createdEvent(test, sent.partner, sent.order.id),
      eventType: "order.created",
      orderId: sent.order.id,
      status: "pending",
      fault: null,
      nextAttemptAt: now,
      createdAt: now,
      attemptCount: 0,
      attempts: [],
    });
  });

  it("shows every attempt by time, whatever triggered it", async () => {
    const answers: ReceiverHandler[] = [
      (_, response) => response.writeHead(500).end("no"),
      (_, response) => response.destroy(),
      (_, response) => response.end("thanks"),
    ];
    const sent = await aSenderTo(test, (request, response) => answers.shift()?.(request, response));
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
    await runJob(test, "resend-deliveries");
    await sent.send();
    oneMinuteLater();
    await redeliver(sent.partner, id);
    await loseWorker(test, uuidIn("whe", sent.endpointId));
    oneMinuteLater();
    await sent.send();
    const delivery = await readDelivery(sent.partner, id);
    expect(delivery).toMatchObject({ status: "succeeded", nextAttemptAt: null, createdAt });
    const durationMs = expect.any(Number);
    const unanswered = { responseStatus: null, responseBody: null };
    expect(withoutRequests(delivery).attempts).toEqual(
      [
        {
          trigger: "schedule",
          durationMs,
          responseStatus: 500,
          responseBody: "no",
          error: "HTTP 500",
          errorCode: "http_status",
        },
        {
          trigger: "recovery",
          durationMs,
          ...unanswered,
          error: "connection closed",
          errorCode: "connection_closed",
        },
        {
          trigger: "manual",
          durationMs: null,
          ...unanswered,
          error: "outcome unknown: the worker ended during the attempt",
          errorCode: "outcome_unknown",
        },
        {
          trigger: "manual",
          durationMs,
          responseStatus: 200,
          responseBody: "thanks",
          error: null,
          errorCode: null,
        },
      ].map((attempt, index) => ({ ...attempt, number: index + 1, startedAt: times[index], fault: null })),
    );
  });

  it("shows the attempt that ended its stream between those before and after it", async () => {
    const statuses = [500, 200];
    const sent = await aSenderTo(test, (_, response) =>
      response.writeHead(statuses.shift() ?? 202).end("ok"),
    );
    const id = await deliveryOfOrder(sent);
    const since = test.clock.now().toISOString();
    await sent.send();
    await placeOrder(sent.partner);
    await sent.send();
    await sent.partner.client.post(endpointPath(sent.endpointId, "recover"), { since });
    await runJob(test, "resend-deliveries");
    test.clock.advance({ seconds: 1 });
    await sent.send();
    test.clock.advance({ seconds: 1 });
    await redeliver(sent.partner, id);
    await sent.send();
    const shown = { responseBody: "ok", errorCode: null };
    expect(withoutRequests(await readDelivery(sent.partner, id))).toMatchObject({
      attemptCount: 3,
      attempts: [
        { number: 1, trigger: "schedule", responseStatus: 500 },
        { number: 2, trigger: "recovery", responseStatus: 202, ...shown },
        { number: 3, trigger: "manual", responseStatus: 202, ...shown },
      ],
    });
  });

  it("plans no next attempt while one is in progress, unless a redelivery is requested", async () => {
    let answer = () => {};
    const { url, waitFor } = await startReceiverForTest((_, response) => {
      answer = () => response.end();
    });
    const sent = await aSender(test, { url });
    const id = await deliveryOfOrder(sent);
    const isSent = sendFor(test, sent.partner);
    await waitFor(1);
    expect(await readDelivery(sent.partner, id)).toMatchObject({ nextAttemptAt: null, attempts: [] });
    await redeliver(sent.partner, id);
    expect((await readDelivery(sent.partner, id)).nextAttemptAt).toBe(test.clock.now().toISOString());
    answer();
    await isSent;
  });

  it("plans no attempt for a delivery that waits for an earlier one of its order", async () => {
    const sent = await aSender(test);
    await cancelOrder(sent.partner, sent.order.id);
    const first = await deliveryOfOrder(sent);
    const second = await deliveryOf(sent.partner, sent.endpointId, sent.order.id, "order.canceled");
    expect((await readDelivery(sent.partner, first)).nextAttemptAt).not.toBeNull();
    expect(await readDelivery(sent.partner, second)).toMatchObject({
      status: "pending",
      nextAttemptAt: null,
    });
  });

  it("shows a test order with its prefix, and is erased with the order", async () => {
    const sent = await aSender(test, { place: placeTestOrder });
    const id = await deliveryOfOrder(sent);
    test.clock.advance({ seconds: 7_199 });
    expect((await readDelivery(sent.partner, id)).orderId).toBe(sent.order.id);
    expect(sent.order.id).toMatch(/^test_/);
    test.clock.advance({ seconds: 1 });
    expectProblem(await sent.partner.client.get(`/v1/deliveries/${id}`), 404, "not-found");
    expect(await listedIds(sent.partner)).toEqual([]);
  });

  it("has no order if the event is not about one", async () => {
    const { partner, endpointId } = await aSender(test);
    const { body } = await partner.client.post(endpointPath(endpointId, "ping"));
    expect(await readDelivery(partner, body.id)).toEqual(body);
    expect(body.orderId).toBeNull();
  });
});

describe("a missing delivery", () => {
  it("is 404, with the same response for another connection's, a missing and a malformed one", async () => {
    const sent = await aSender(test);
    const theirs = await aSender(test);
    const [ownId, theirId] = [await deliveryOfOrder(sent), await deliveryOfOrder(theirs)];
    const { client } = sent.partner;
    for (const suffix of ["", "/redeliver"]) {
      const ask = (id: string) =>
        client.request(suffix === "" ? "GET" : "POST", `/v1/deliveries/${id}${suffix}`);
      const missing = await ask("dlv_01m7y7np16fe68bxp4h91tdmdn");
      expectProblem(missing, 404, "not-found");
      for (const id of [theirId, "x", theirId.replace("dlv_", "evt_")])
        expect(withoutItsOwn(await ask(id))).toBe(withoutItsOwn(missing));
    }
    expect(await listedIds(sent.partner)).toEqual([ownId]);
  });
});
