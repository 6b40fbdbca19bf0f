import { Type } from "typebox";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createListener } from "../../../src/http/listener.ts";
import { routeTable } from "../../../src/http/route.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { exchange, listen, openConnection, type RawAnswer, requestText } from "../../support/sockets.ts";

type Caller = { name: string };
const route = routeTable<null, Caller>();
const row = {
  tag: "Tests",
  summary: "A route of this test",
  responses: { 204: { description: "Done." } },
  problems: [],
} as const;

/** Requests that reached the handler of `/orders`. */
let placed: number;
/** Lets the request of `/slow` that is in progress end. */
let endSlow: () => void;

// By default Node looks for late requests every 30 s. That is later than these tests wait.
const app = createListener<null, Caller>({
  name: "back-office",
  routes: [
    route({
      ...row,
      method: "POST",
      path: "/orders",
      operationId: "place",
      body: Type.Object({ a: Type.Number() }),
      handle: async () => {
        placed += 1;
        return { status: 204 };
      },
    }),
    route({
      ...row,
      method: "GET",
      path: "/slow",
      operationId: "slow",
      handle: () =>
        new Promise((resolve) => {
          endSlow = () => resolve({ status: 204 });
        }),
    }),
  ],
  operationsFor: () => null,
  authenticate: ({ headers }) =>
    headers["x-key"] === "known" ? { name: "known caller" } : { code: "unauthorized", detail: "No." },
  errorsBaseUrl: "https://docs.example/errors",
  log: createLog("silent"),
  metrics: createMetrics().requests,
  headersTimeoutMs: 100,
  requestTimeoutMs: 200,
});
let url: string;
beforeAll(async () => {
  url = await listen(app);
});
afterAll(() => app.close());
beforeEach(() => {
  placed = 0;
});

const KEY = { "x-key": "known" };
const BODY = '{"a":1}';
const order = (headers: Record<string, string> = KEY) =>
  requestText("POST /orders HTTP/1.1", {
    ...headers,
    "content-type": "application/json",
    "content-length": String(BODY.length),
  });

function expectLate({ status, headers, body }: RawAnswer, instance: string): void {
  expect(status).toBe(400);
  expect(headers["connection"]).toBe("close");
  expect(JSON.parse(body)).toMatchObject({
    code: "malformed-request",
    detail: "The request did not arrive in time.",
    instance,
  });
}

describe("a request that does not arrive in time", () => {
  it.each<[name: string, bytes: string | Buffer, instance: string]>([
    ["a part of the request line", "GET /ord", "/"],
    ["a part of the header fields", "GET /orders HTTP/1.1\r\nhost: a\r\nx-k", "/"],
    ["a part of the body", `${order()}{"a"`, "/orders"],
  ])("is malformed, and its connection is closed, after %s", async (_name, bytes, instance) => {
    const connection = await openConnection(url);
    connection.send(bytes);
    expectLate(await connection.answer(), instance);
    expect(await connection.closed()).toBe("");
  });

  it("is malformed on a connection that has served others", async () => {
    const connection = await openConnection(url);
    connection.send(
      requestText("POST /orders HTTP/1.1", { ...KEY, "content-type": "application/json" }, BODY),
    );
    expect((await connection.answer()).status).toBe(204);
    connection.send(order());
    expectLate(await connection.answer(), "/orders");
    expect(await connection.closed()).toBe("");
  });

  it("is not carried out when the rest of it arrives after the response", async () => {
    const connection = await openConnection(url, { allowHalfOpen: true });
    connection.send(order());
    expectLate(await connection.answer(), "/orders");
    connection.socket.end(BODY);
    await connection.closed();
    await exchange(url, requestText("GET /nothing HTTP/1.1"));
    expect(placed).toBe(0);
  });

  it.each<[name: string, status: number, bytes: Buffer]>([
    ["an unknown key", 401, order({ "x-key": "unknown" })],
    ["an unknown path", 404, requestText("POST /nothing HTTP/1.1", { "content-length": "100" })],
  ])("has only its own response if it was rejected before its body: %s", async (_name, status, bytes) => {
    const connection = await openConnection(url);
    connection.send(bytes);
    expect((await connection.answer()).status).toBe(status);
    expect(await connection.closed()).toBe("");
  });

  it("has its response behind that of the request before it", async () => {
    const connection = await openConnection(url);
    connection.send(Buffer.concat([requestText("GET /slow HTTP/1.1", KEY), order()]));
    await exchange(url, order()); // Late at the same time.
    endSlow();
    expect((await connection.answer()).status).toBe(204);
    expectLate(await connection.answer(), "/orders");
    expect(await connection.closed()).toBe("");
  });

  it("has only its own response, behind that of the request before it", async () => {
    const connection = await openConnection(url);
    connection.send(Buffer.concat([requestText("GET /slow HTTP/1.1", KEY), order({ "x-key": "unknown" })]));
    await exchange(url, order()); // Late at the same time.
    endSlow();
    expect((await connection.answer()).status).toBe(204);
    expect((await connection.answer()).status).toBe(401);
    expect(await connection.closed()).toBe("");
  });
});
