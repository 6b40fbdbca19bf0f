import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createPartner, placeOrder } from "../support/builders.ts";
import { makeCertificate } from "../support/certificate.ts";
import { received, sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { startRawReceiver, startReceiver } from "../support/receivers.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath } from "../support/webhooks.ts";

// How the sender treats each response is in sender-hostile.test.ts. This file tests the whole way, from the order to
// the log.

type Behaviour = (socket: Socket) => void;

const answer =
  (status: string, headers = ""): Behaviour =>
  (socket) =>
    void socket.end(`HTTP/1.1 ${status}\r\n${headers}content-length: 0\r\n\r\n`);

/** Writes again and again, as fast as the other side takes it, until the connection is gone. */
function withoutEnd(socket: Socket, bytes: string): void {
  const more = () => {
    if (!socket.destroyed) socket.write(bytes, () => setImmediate(more));
  };
  more();
}

/** A connection with two endpoints, of which one is not friendly at its first request, and a dispatcher. */
async function start(behave: Behaviour, timeoutMs = 20_000) {
  const test = await startServiceForTest({
    config: { webhookAllowPrivateNetworks: true, webhookTimeoutMs: timeoutMs },
  });
  const partner = await createPartner(test);
  const honest = await startReceiverForTest();
  const hostile = await startRawReceiver((socket) =>
    (hostile.connectionCount() === 1 ? behave : answer("200 OK"))(socket),
  );
  onTestFinished(() => hostile.close());
  const endpoint = await createEndpoint(partner, { url: hostile.url });
  await createEndpoint(partner, { url: honest.url });
  const dispatcher = startDispatcher(test);
  return { test, partner, honest, hostile, endpoint, dispatcher, send: () => sendDue(dispatcher) };
}

/** Waits of the schedule's first interval, in milliseconds. */
const FIRST_STEP: [number, number] = [4_000, 6_000];

const CASES: {
  name: string;
  behave: Behaviour;
  timeoutMs?: number;
  responseStatus: number | null;
  error: string;
  waitMs?: [min: number, max: number];
}[] = [
  { name: "hangs up", behave: (socket) => socket.end(), responseStatus: null, error: "connection closed" },
  {
    name: "resets",
    behave: (socket) => socket.resetAndDestroy(),
    responseStatus: null,
    error: "connection reset",
  },
  {
    name: "resets after the headers of a 200, before the body that they promise",
    behave: (socket) =>
      void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", () => socket.resetAndDestroy()),
    responseStatus: 200,
    error: "connection reset",
  },
  {
    name: "sends its headers byte by byte, without end",
    behave: (socket) => {
      socket.write("HTTP/1.1 200 ");
      // So slowly that the bound of bytes is not reached.
      const drip = setInterval(() => socket.write("a"), 20);
      socket.once("close", () => clearInterval(drip));
    },
    timeoutMs: 1_000,
    responseStatus: null,
    error: "timeout",
  },
  {
    name: "begins a body and never ends it",
    behave: (socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\nthanks"),
    timeoutMs: 1_000,
    responseStatus: 200,
    error: "timeout",
  },
  {
    name: "never responds",
    behave: () => undefined,
    timeoutMs: 1_000,
    responseStatus: null,
    error: "timeout",
  },
  {
    name: "floods with headers",
    behave: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      withoutEnd(socket, `a: ${"b".repeat(1_000)}\r\n`);
    },
    responseStatus: null,
    error: "response too large",
  },
  {
    name: "does not speak HTTP",
    behave: (socket) => void socket.end("220 mail.partner.example ESMTP\r\n"),
    responseStatus: null,
    error: "invalid HTTP response",
  },
  { name: "answers 500", behave: answer("500 No"), responseStatus: 500, error: "HTTP 500" },
  { name: "answers 304", behave: answer("304 No"), responseStatus: 304, error: "HTTP 304" },
  { name: "answers 404", behave: answer("404 No"), responseStatus: 404, error: "HTTP 404" },
  {
    name: "returns 429 and requests 40 s",
    behave: answer("429 No", "retry-after: 40\r\n"),
    responseStatus: 429,
    error: "HTTP 429",
    waitMs: [40_000, 40_000],
  },
  {
    name: "returns 503 and requests a date in 30 s",
    behave: answer("503 No", "retry-after: Mon, 02 Mar 2026 09:00:30 GMT\r\n"),
    responseStatus: 503,
    error: "HTTP 503",
    waitMs: [30_000, 30_000],
  },
  {
    name: "returns 429 and requests a year",
    behave: answer("429 No", "retry-after: 31536000\r\n"),
    responseStatus: 429,
    error: "HTTP 429",
    waitMs: [60_000, 60_000],
  },
  {
    name: "returns 429 and requests no wait at all",
    behave: answer("429 No", "retry-after: 0\r\n"),
    responseStatus: 429,
    error: "HTTP 429",
  },
  {
    name: "returns 500 and requests an hour, which only 429 and 503 may",
    behave: answer("500 No", "retry-after: 3600\r\n"),
    responseStatus: 500,
    error: "HTTP 500",
  },
];

describe("a receiver that", () => {
  it.each(CASES)("$name", async ({ behave, timeoutMs, responseStatus, error, waitMs = FIRST_STEP }) => {
    const { test, partner, honest, hostile, endpoint, send } = await start(behave, timeoutMs);
    const order = await placeOrder(partner);
    await send();
    expect(honest.requests).toHaveLength(1);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    const read = async () => (await partner.client.get(`/v1/deliveries/${id}`)).body;

    const { status, attempts, nextAttemptAt } = await read();
    expect(status).toBe("pending");
    expect(attempts).toEqual([
      expect.objectContaining({
        number: 1,
        trigger: "schedule",
        responseStatus,
        error,
        startedAt: test.clock.now().toISOString(),
      }),
    ]);
    const wait = Date.parse(nextAttemptAt) - test.clock.now().getTime();
    expect(wait).toBeGreaterThanOrEqual(waitMs[0]);
    expect(wait).toBeLessThanOrEqual(waitMs[1]);

    test.clock.advance({ ms: wait - 1 });
    await send();
    expect(hostile.connectionCount()).toBe(1);
    test.clock.advance({ ms: 1 });
    await send();
    expect(hostile.connectionCount()).toBe(2);
    expect(await read()).toMatchObject({
      status: "succeeded",
      nextAttemptAt: null,
      attempts: [{ error }, { number: 2, trigger: "schedule", responseStatus: 200, error: null }],
    });
    expect(honest.requests).toHaveLength(1);
  });

  it("redirects is not followed: the named address receives nothing", async () => {
    const inside = await startReceiverForTest();
    const { partner, endpoint, send } = await start(answer("307 Elsewhere", `location: ${inside.url}\r\n`));
    const order = await placeOrder(partner);
    await send();
    const id = await deliveryOf(partner, endpoint.id, order.id);
    expect((await partner.client.get(`/v1/deliveries/${id}`)).body).toMatchObject({
      status: "pending",
      attempts: [{ responseStatus: 307, error: "HTTP 307" }],
    });
    expect(inside.connectionCount()).toBe(0);
  });

  it("returns 200 and an endless body has received the event; no more than 1024 bytes are kept", async () => {
    const { partner, endpoint, send } = await start((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      withoutEnd(socket, "a".repeat(10_000));
    });
    const order = await placeOrder(partner);
    await send();
    const id = await deliveryOf(partner, endpoint.id, order.id);
    expect((await partner.client.get(`/v1/deliveries/${id}`)).body).toMatchObject({
      status: "succeeded",
      attempts: [{ responseStatus: 200, responseBody: "a".repeat(1_024), error: null }],
    });
  });

  it("returns 410 is paused: pending deliveries stay in the log without a next attempt, and other endpoints continue", async () => {
    const { test, partner, honest, hostile, endpoint, send } = await start(answer("410 Gone"));
    const orders = [await placeOrder(partner)];
    await send();
    expect((await partner.client.get(endpointPath(endpoint.id))).body).toMatchObject({
      status: "paused",
      pauseReason: "gone",
      pausedAt: test.clock.now().toISOString(),
    });
    orders.push(await placeOrder(partner));
    test.clock.advance({ hours: 100 });
    await send();
    expect(hostile.connectionCount()).toBe(1);
    expect(honest.requests).toHaveLength(2);
    const attempts = [1, 0];
    for (const { id: orderId } of orders) {
      const id = await deliveryOf(partner, endpoint.id, orderId);
      const { body } = await partner.client.get(`/v1/deliveries/${id}`);
      expect(body).toMatchObject({ status: "pending", nextAttemptAt: null });
      expect(body.attempts).toHaveLength(attempts.shift() ?? 0);
    }
  });

  it("has an untrusted certificate receives nothing, and is retried", async () => {
    const impostor = await startReceiver(undefined, makeCertificate());
    onTestFinished(() => impostor.close());
    const { test, partner, honest, send } = await start(answer("200 OK"));
    const { id: endpointId } = await createEndpoint(partner, { url: impostor.url });
    const order = await placeOrder(partner);
    await send();
    test.clock.advance({ seconds: 6 });
    await send();
    const id = await deliveryOf(partner, endpointId, order.id);
    const { status, attempts } = (await partner.client.get(`/v1/deliveries/${id}`)).body;
    const rejected = { responseStatus: null, responseBody: null, error: "TLS: self-signed certificate" };
    expect(status).toBe("pending");
    expect(attempts).toEqual([expect.objectContaining(rejected), expect.objectContaining(rejected)]);
    expect(impostor.requests).toHaveLength(0);
    expect(honest.requests).toHaveLength(1);
  });
});

describe("while a receiver keeps all its requests waiting", () => {
  it("the other endpoints of its connection are served, order after order", async () => {
    const { partner, honest, dispatcher } = await start(answer("200 OK"));
    const waiting: (() => void)[] = [];
    const slow = await startReceiverForTest((_, response) => void waiting.push(() => response.end()));
    await createEndpoint(partner, { url: slow.url, maxInFlight: 2 });
    const sent: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      sent.push((await placeOrder(partner)).id);
      await dispatcher.poll();
    }
    await honest.waitFor(20);
    expect(
      received(honest)
        .map(({ orderId }) => orderId)
        .sort(),
    ).toEqual(sent.sort());
    expect(slow.requests).toHaveLength(2);
    // The rest follows as soon as it responds.
    while (slow.requests.length < 20) {
      for (const answerOne of waiting.splice(0)) answerOne();
      await slow.waitFor(slow.requests.length + 1);
    }
    for (const answerOne of waiting.splice(0)) answerOne();
    await dispatcher.idle();
  });
});
