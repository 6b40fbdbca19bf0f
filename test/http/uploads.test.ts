import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createListener } from "../../src/http/listener.ts";
import { type Route, routeTable } from "../../src/http/route.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";

type Caller = { name: string };
const LIMIT_BYTES = 3 * 1_048_576;

/** What the routes' handlers have read. */
let received: number;
let reading: "all" | "nothing" | "one chunk";

const route = routeTable<null, Caller>();
const row = {
  tag: "Test",
  method: "POST" as const,
  summary: "Take an upload",
  responses: { 204: { description: "Taken." } },
  problems: [],
};
const ROUTES: Route<null>[] = [
  route({
    ...row,
    path: "/uploads",
    operationId: "upload",
    upload: { mediaType: "text/csv", limitBytes: LIMIT_BYTES },
    handle: async ({ body }) => {
      if (reading !== "nothing")
        for await (const chunk of body) {
          received += chunk.length;
          if (reading === "one chunk") break;
        }
      return { status: 204 };
    },
  }),
  route({ ...row, path: "/others", operationId: "other", handle: async () => ({ status: 204 }) }),
];

const app = createListener<null, Caller>({
  name: "back-office",
  routes: ROUTES,
  operationsFor: () => null,
  authenticate: async () => ({ name: "known caller" }),
  errorsBaseUrl: "https://docs.example/errors",
  log: createLog("silent"),
  metrics: createMetrics().requests,
});
let url: string;
beforeAll(async () => {
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());
beforeEach(() => {
  received = 0;
  reading = "all";
});

/** Sends chunks with `Transfer-Encoding: chunked`, also after the response has begun; returns status and body. */
function upload(
  chunks: Iterable<Buffer>,
  path = "/uploads",
  type = "text/csv",
  fields: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": type, ...fields };
    const sent = request(url + path, { method: "POST", headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

const bytes = (length: number, size = 65_536): Buffer[] =>
  Array.from({ length: Math.ceil(length / size) }, (_, n) =>
    Buffer.alloc(Math.min(size, length - n * size), "x"),
  );

describe("an uploaded body", () => {
  it("is handed on up to its own limit, which is not that of JSON", async () => {
    expect((await upload(bytes(LIMIT_BYTES))).status).toBe(204);
    expect(received).toBe(LIMIT_BYTES);
  });

  it("is rejected with one byte more, and a client that is still sending gets the response", async () => {
    const { status, body } = await upload(bytes(2 * LIMIT_BYTES));
    expect(status).toBe(413);
    expect(JSON.parse(body)).toMatchObject({ detail: "The body is larger than 3 MiB." });
    expect((await upload(bytes(LIMIT_BYTES + 1))).status).toBe(413);
    expect(received).toBeLessThanOrEqual(2 * LIMIT_BYTES);
  });

  it.each(["nothing", "one chunk"] as const)("may return a response when %s of it was read", async (some) => {
    reading = some;
    expect((await upload(bytes(2 * LIMIT_BYTES))).status).toBe(204);
  });

  it("is rejected before it is read if it has another type", async () => {
    for (const type of ["application/json", "text/csv2", "text /csv", ""])
      expect((await upload(bytes(10), "/uploads", type)).status, type).toBe(415);
    expect(received).toBe(0);
  });

  it("is rejected before it is read if it has a content coding", async () => {
    const { status, body } = await upload(bytes(10), "/uploads", "text/csv", { "content-encoding": "gzip" });
    expect(status).toBe(415);
    expect(JSON.parse(body).detail).toContain("Content-Encoding");
    expect(received).toBe(0);
  });

  it("has no effect on other routes: their bodies are read and limited as before", async () => {
    expect((await upload(bytes(10), "/others")).status).toBe(204);
    expect((await upload(bytes(LIMIT_BYTES), "/others")).status).toBe(413);
  });

  it("that breaks off is a failure for its reader, and none of the service's", async () => {
    const sent = request(`${url}/uploads`, { method: "POST", headers: { "content-type": "text/csv" } });
    sent.on("error", () => undefined);
    await new Promise((resolve) => sent.write(Buffer.alloc(1_000), resolve));
    sent.destroy();
    expect((await upload(bytes(10))).status).toBe(204);
  });
});
