import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createListener } from "../../src/http/listener.ts";
import { routeTable } from "../../src/http/route.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { listen, openConnection, requestText } from "../support/sockets.ts";

type Caller = { name: string };
const route = routeTable<null, Caller>();

let stopping: AbortController;
let app: ReturnType<typeof createListener>;
let url: string;
/** Ends the request of `/slow` that is in progress. */
let endSlow: () => void;

beforeEach(async () => {
  stopping = new AbortController();
  app = createListener<null, Caller>({
    name: "back-office",
    routes: [
      route({
        method: "GET",
        path: "/slow",
        tag: "Tests",
        summary: "A route of this test",
        responses: { 204: { description: "Done." } },
        problems: [],
        operationId: "slow",
        handle: () =>
          new Promise((resolve) => {
            endSlow = () => resolve({ status: 204 });
          }),
      }),
    ],
    operationsFor: () => null,
    authenticate: () => ({ name: "known caller" }),
    errorsBaseUrl: "https://docs.example/errors",
    log: createLog("silent"),
    metrics: createMetrics().requests,
    stopping: stopping.signal,
  });
  url = await listen(app);
});
afterEach(() => app.close());

describe("when the process stops", () => {
  it.each([
    ["a path of no route", "/nothing"],
    ["a path that cannot be decoded", "/%"],
  ])(
    "each response says that its connection is closed, before the listener closes: %s",
    async (_name, path) => {
      const connection = await openConnection(url);
      const request = requestText(`GET ${path} HTTP/1.1`);
      connection.send(request);
      expect((await connection.answer()).headers["connection"]).toBe("keep-alive");
      stopping.abort();
      connection.send(request);
      expect((await connection.answer()).headers["connection"]).toBe("close");
      await connection.closed();
    },
  );

  it("so does the response to a request that was already in progress", async () => {
    const connection = await openConnection(url);
    connection.send(requestText("GET /slow HTTP/1.1"));
    await expect.poll(() => endSlow).toBeDefined();
    stopping.abort();
    endSlow();
    expect((await connection.answer()).headers["connection"]).toBe("close");
    await connection.closed();
  });

  it("a connection that was never used is closed soon after the listener", async () => {
    const connection = await openConnection(url);
    await app.close();
    await connection.closed();
  });

  it("connections without a request are closed with the listener", async () => {
    const connection = await openConnection(url);
    connection.send(requestText("GET /nothing HTTP/1.1"));
    await connection.answer();
    await app.close();
    await connection.closed();
  });
});
