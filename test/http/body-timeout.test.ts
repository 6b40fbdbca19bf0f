import { afterAll, beforeAll, expect, it } from "vitest";
import { createListener } from "../../src/http/listener.ts";
import { routeTable } from "../../src/http/route.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { listen, openConnection, requestText } from "../support/sockets.ts";

type Caller = { name: string };
const route = routeTable<null, Caller>();
const row = {
  method: "POST",
  tag: "Tests",
  summary: "A route of this test",
  responses: { 204: { description: "Done." } },
  problems: [],
} as const;

const app = createListener<null, Caller>({
  name: "back-office",
  routes: [
    route({
      ...row,
      path: "/uploads",
      operationId: "upload",
      upload: { mediaType: "text/csv", limitBytes: 1_000 },
      handle: async ({ body }) => {
        for await (const _ of body);
        return { status: 204 };
      },
    }),
    route({ ...row, path: "/others", operationId: "other", handle: async () => ({ status: 204 }) }),
  ],
  operationsFor: () => null,
  authenticate: async ({ headers }) =>
    headers["x-key"] === "known" ? { name: "known caller" } : { code: "unauthorized", detail: "No." },
  errorsBaseUrl: "https://docs.example/errors",
  log: createLog("silent"),
  metrics: createMetrics().requests,
  requestTimeoutMs: 600_000,
  bodyTimeoutMs: 300,
});
let url: string;
beforeAll(async () => {
  url = await listen(app);
});
afterAll(() => app.close());

/** Sends a request whose body has begun and does not continue. */
async function begin(path: string, key: string) {
  const connection = await openConnection(url);
  const fields = { "content-type": "text/csv", "content-length": "100", "x-key": key };
  connection.send(requestText(`POST ${path} HTTP/1.1`, fields));
  connection.send("x");
  return connection;
}

it("only an upload of an admitted caller may take long to arrive", async () => {
  const admitted = await begin("/uploads", "known");
  const others = await Promise.all([
    begin("/uploads", "unknown"),
    begin("/nowhere", "known"),
    begin("/others", "known"),
  ]);
  await Promise.all(others.map((connection) => connection.closed()));
  admitted.send("x".repeat(99));
  expect((await admitted.answer()).status).toBe(204);
  admitted.close();
});
