import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  isProblem,
  NetworkError,
  type PartnerOrders,
  PartnerOrdersError,
  TimeoutError,
  UnexpectedResponseError,
} from "../../../packages/sdk/src/index.ts";
import { anOrderOf, type Canned, cannedClient, problem } from "../../support/partner-sdk.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

const LOST = new TypeError("fetch failed");
const order = anOrderOf("019f0f15-5426-7b88-8bdb-c48c13a36d76", "web-1");

/** The outcome of a request whose pauses pass at once. */
async function outcomeOf<T>(request: PromiseLike<T>): Promise<T | PartnerOrdersError> {
  const outcome = Promise.resolve(request).catch((error) => error);
  await vi.runAllTimersAsync();
  return outcome;
}

const create = (client: PartnerOrders) => client.orders.create(order);
const cancel = (client: PartnerOrders) => client.orders.cancel("web-1");
const transition = (client: PartnerOrders) => client.testOrders.transition("web-1", { transition: "ship" });
const ping = (client: PartnerOrders) => client.webhookEndpoints.ping("whe_1");
const register = (client: PartnerOrders) =>
  client.webhookEndpoints.create({ url: "https://partner.example/" });
const rotate = (client: PartnerOrders) => client.webhookEndpoints.rotateSecret("whe_1");
const redeliver = (client: PartnerOrders) => client.deliveries.redeliver("dlv_1");
const remove = (client: PartnerOrders) => client.webhookEndpoints.delete("whe_1");
const read = (client: PartnerOrders) => client.orders.get("web-1");
const search = (client: PartnerOrders) => client.orders.search();

describe("what the SDK repeats", () => {
  const UNKNOWN: [string, Canned][] = [
    ["no response", LOST],
    ["500", problem(500, "internal-error")],
    ["503", problem(503, "unavailable")],
    ["the 502 of a proxy", { status: 502, body: "<html>" }],
    ["a 504 without a body", { status: 504, body: "" }],
  ];

  it.each(UNKNOWN)("after %s: reads, creations, cancels and deletions", async (_name, failure) => {
    for (const call of [read, search, create, cancel, remove]) {
      const { client, sent } = cannedClient([failure, failure, {}]);
      expect(await outcomeOf<unknown>(call(client)), String(call)).not.toBeInstanceOf(Error);
      expect(sent).toHaveLength(3);
    }
  });

  it.each(UNKNOWN)("after %s: nothing that could act twice", async (_name, failure) => {
    for (const call of [transition, ping, register, rotate, redeliver]) {
      const { client, sent } = cannedClient([failure, {}]);
      expect(await outcomeOf<unknown>(call(client)), String(call)).toBeInstanceOf(PartnerOrdersError);
      expect(sent).toHaveLength(1);
    }
  });

  it("after 429: everything, because the request was rejected before it began", async () => {
    for (const call of [read, create, cancel, transition, ping, register, rotate, redeliver]) {
      const { client, sent } = cannedClient([problem(429, "rate-limited", {}, { "retry-after": "1" }), {}]);
      expect(await outcomeOf<unknown>(call(client)), String(call)).not.toBeInstanceOf(Error);
      expect(sent).toHaveLength(2);
    }
  });

  it("after a 429 of a request that waited in its middle: nothing that could act twice", async () => {
    const waited = problem(429, "rate-limited", { limit: "waiting-requests" });
    const { client, sent } = cannedClient([waited, {}]);
    expect(await outcomeOf<unknown>(transition(client))).toMatchObject({ code: "rate-limited" });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [400, "malformed-request"],
    [401, "unauthorized"],
    [403, "forbidden"],
    [404, "not-found"],
    [409, "order-not-cancelable"],
    [413, "payload-too-large"],
    [422, "validation-failed"],
  ])("never after %i", async (status, code) => {
    const { client, sent } = cannedClient([problem(status, code), {}]);
    expect(await outcomeOf(cancel(client))).toMatchObject({
      code,
      status,
      requestId: "request-1",
      attempts: 1,
    });
    expect(sent).toHaveLength(1);
  });

  it("the same request, with the same key", async () => {
    const { client, sent } = cannedClient([LOST, LOST, {}]);
    await outcomeOf(client.orders.create(order, { idempotencyKey: "żółw" }));
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    const utf8 = Buffer.from(String(sent[2]?.headers.get("idempotency-key")), "latin1").toString("utf8");
    expect(utf8).toBe("żółw");
  });

  it("a deletion that does not find what its lost attempt has deleted, has succeeded", async () => {
    const { client } = cannedClient([LOST, problem(404, "not-found")]);
    expect(await outcomeOf(remove(client))).toBeUndefined();
  });

  it("a deletion of what was not there, also after a rejected attempt, has not", async () => {
    for (const before of [[], [problem(429, "rate-limited")]]) {
      const { client } = cannedClient([...before, problem(404, "not-found")]);
      expect(await outcomeOf(remove(client))).toMatchObject({ code: "not-found" });
    }
  });
});

describe("how it repeats", () => {
  it("four times at most, with pauses that double and vary", async () => {
    const times: number[] = [];
    const { client } = cannedClient([LOST], { onAttempt: () => void times.push(Date.now()) });
    expect(await outcomeOf(read(client))).toMatchObject({ name: "NetworkError", attempts: 4 });
    const pauses = times.slice(1).map((time, index) => time - Number(times[index]));
    expect(pauses).toHaveLength(3);
    pauses.forEach((ms, index) => {
      expect(ms).toBeGreaterThanOrEqual(250 * 2 ** index - 1);
      expect(ms).toBeLessThanOrEqual(500 * 2 ** index);
    });
  });

  it.each([
    ["seconds", () => "7"],
    ["a date", () => new Date(Date.now() + 7_000).toUTCString()],
  ])("not before Retry-After, as %s", async (_form, retryAfter) => {
    vi.setSystemTime(new Date("2026-03-02T09:00:00Z"));
    const times: number[] = [];
    const { client } = cannedClient([problem(503, "unavailable", {}, { "retry-after": retryAfter() }), {}], {
      onAttempt: () => void times.push(Date.now()),
    });
    await outcomeOf(read(client));
    expect(Number(times[1]) - Number(times[0])).toBeGreaterThanOrEqual(7_000);
  });

  it("not at all if Retry-After is longer than the longest pause: the error has it", async () => {
    const { client, sent } = cannedClient([problem(429, "rate-limited", {}, { "retry-after": "61" }), {}]);
    expect(await outcomeOf(read(client))).toMatchObject({ code: "rate-limited", retryAfterSeconds: 61 });
    expect(sent).toHaveLength(1);
  });

  it("as often as the client and the request say", async () => {
    const once = cannedClient([LOST], { attemptsMax: 1 });
    await outcomeOf(read(once.client));
    expect(once.sent).toHaveLength(1);
    await outcomeOf(once.client.orders.get("web-1", { attemptsMax: 2 }));
    expect(once.sent).toHaveLength(3);
  });

  it("not after it was aborted, also in a pause: the reason of the signal is thrown", async () => {
    const controller = new AbortController();
    const { client, sent } = cannedClient([LOST]);
    const outcome = client.orders.get("web-1", { signal: controller.signal }).catch((error) => error);
    await vi.advanceTimersByTimeAsync(1);
    controller.abort(new Error("The user left."));
    expect(await outcome).toMatchObject({ message: "The user left." });
    expect(sent).toHaveLength(1);
    const late = await client.orders.get("web-1", { signal: controller.signal }).catch((error) => error);
    expect(late).toMatchObject({ message: "The user left." });
    expect(sent).toHaveLength(1);
  });
});

describe("errors", () => {
  it("a network error has its cause, and is no problem", async () => {
    const { client } = cannedClient([LOST], { attemptsMax: 1 });
    const error = await outcomeOf(read(client));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ cause: LOST, requestId: null, operation: "getOrder" });
    expect(isProblem(error)).toBe(false);
  });

  it("a timeout is an error of its own, also in the middle of the body", async () => {
    vi.useRealTimers();
    const fetch = async (_url: unknown, init?: RequestInit) =>
      new Response(
        new ReadableStream({
          start(stream) {
            stream.enqueue(new TextEncoder().encode("{"));
            init?.signal?.addEventListener("abort", () => stream.error(init.signal?.reason));
          },
        }),
        { headers: { "x-request-id": "request-2" } },
      );
    const { client } = cannedClient([], {
      fetch: fetch as typeof globalThis.fetch,
      timeoutMs: 20,
      attemptsMax: 1,
    });
    const error = await read(client).catch((reason) => reason);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ requestId: "request-2" });
  });

  it.each([
    [200, "<html>"],
    [302, ""],
    [404, "<html>not the service</html>"],
    [404, { code: "not-found" }],
    [403, "null"],
  ])("a %i that is not of the service is an unexpected response", async (status, body) => {
    const { client } = cannedClient([{ status, body }]);
    expect(await outcomeOf(read(client))).toBeInstanceOf(UnexpectedResponseError);
  });

  it("a call that cannot be sent is a TypeError, and nothing is sent", async () => {
    const { client, sent } = cannedClient([{}]);
    for (const id of ["", ".", "..", undefined as never])
      await expect(client.orders.cancel(id)).rejects.toThrow(TypeError);
    await expect(client.orders.create({ ...order, externalOrderId: undefined as never })).rejects.toThrow(
      TypeError,
    );
    const badKey = cannedClient([{}], { key: "a\nb" });
    await expect(badKey.client.me()).rejects.toThrow(TypeError);
    expect([...sent, ...badKey.sent]).toEqual([]);
    expect(() => cannedClient([], { baseUrl: "ftp://orders.example" })).toThrow(TypeError);
    expect(() => cannedClient([], { baseUrl: "orders.example" })).toThrow(TypeError);
  });

  it("an id of any characters stays one part of the path, below the path of the address", async () => {
    const { client, sent } = cannedClient([{}], { baseUrl: "https://gateway.example/orders/" });
    await outcomeOf(client.orders.get("a/../b?c#d%2F ü"));
    expect(sent[0]?.path).toBe("/orders/v1/orders/a%2F..%2Fb%3Fc%23d%252F%20%C3%BC");
  });
});
