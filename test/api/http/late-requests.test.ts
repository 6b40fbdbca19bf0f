import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createListener } from "../../../src/api/http/listener.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { listen, openConnection, type RawAnswer } from "../../support/sockets.ts";

type Caller = { name: string };
// By default Node looks for late requests every 30 s. That is later than these tests wait.
const app = createListener<null, Caller>({
  name: "back-office",
  routes: [],
  operationsFor: () => null,
  authenticate: () => ({ name: "known caller" }),
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
  ])("is malformed, and its connection is closed, after %s", async (_name, bytes, instance) => {
    const connection = await openConnection(url);
    connection.send(bytes);
    expectLate(await connection.answer(), instance);
    expect(await connection.closed()).toBe("");
  });
});
