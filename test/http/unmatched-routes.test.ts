import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createKey, createPartner, type Partner } from "../support/builders.ts";
import { exchange, listen, openConnection, type RawAnswer, requestText } from "../support/sockets.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let app: ReturnType<typeof createPartnerApi>;
let url: string;
/** Statements that the listener sent to the database. */
const statements: string[] = [];

beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  const query: Queryable["query"] = (statement) => {
    statements.push(statement.name);
    return test.db.query(statement);
  };
  app = createPartnerApi({ ...test.context, db: { ...test.db, query } }, createMetrics());
  url = await listen(app);
});
afterAll(async () => {
  await app.close();
  await test.close();
});

/** 404 not-found, naming method and path, and nothing was looked up for it. */
function expectNoRoute(answer: RawAnswer, method: string, path: string): void {
  expect(answer.status, `${method} ${path}: ${answer.body}`).toBe(404);
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["x-request-id"]).toMatch(/./);
  expect(JSON.parse(answer.body)).toEqual({
    type: "http://localhost:8081/errors/not-found",
    code: "not-found",
    title: "Resource not found",
    status: 404,
    detail: `No route matches ${method} ${path}.`,
    instance: path,
  });
}

const send = (method: string, target: string, headers: Record<string, string> = {}, body?: string | Buffer) =>
  exchange(url, requestText(`${method} ${target} HTTP/1.1`, headers, body));

const id = "ord_01m7y7np16fe68bxp4h91tdmdn";

/** Method and path of the specification's seven routes, with ids put in. */
const ROUTES: [method: string, path: string][] = [
  ["POST", "/v1/orders"],
  ["GET", `/v1/orders/${id}`],
  ["POST", `/v1/orders/${id}/cancel`],
  ["GET", "/v1/products"],
  ["GET", "/v1/products/018f0000-0000-7000-8000-000000000000"],
  ["GET", "/v1/me"],
  ["POST", `/v1/test/orders/${id}/transitions`],
];

const UNMATCHED_PATHS = [
  // Without the prefix, with another one, or none of ours.
  "/",
  "//",
  "/v1",
  "/v1/",
  "/me",
  "/orders",
  "/v2/me",
  "/v1.0/me",
  "/api/v1/me",
  "/v1/metrics",
  "/v1/errors/not-found",
  // What the back office serves.
  "/metrics",
  "/livez",
  "/readyz",
  "/openapi.json",
  "/errors/not-found",
  "/api/merchants",
  "/favicon.ico",
  "/robots.txt",
  // Slashes are not merged, and none is taken away.
  "//v1/me",
  "/v1//me",
  "/v1/me/",
  "/v1/me//",
  "/v1/products/",
  "/v1/orders/",
  "/v1/orders//cancel",
  `/v1/orders/${id}/`,
  `/v1/orders//${id}`,
  `/v1/orders/${id}/cancel/`,
  `/v1/orders/${id}/shipments`,
  `/v1/test/orders/${id}`,
  "/v1/test/orders//transitions",
  // Paths are exact: neither case nor percent-encoding is folded.
  "/V1/me",
  "/v1/Me",
  "/v1/ME",
  "/v1/%6De",
  "/v1/m%65",
  "/%76%31/me",
  "/v1%2Fme",
  "/v1/me%20",
  "/v1/me%00",
  "/v1/me%2F",
  "/v1/me;a=b",
  "/v1/me#fragment",
  "/v1/me\\",
  "/v1\\me",
  // Dot segments are not resolved.
  "/.",
  "/..",
  "/v1/./me",
  "/v1/../v1/me",
  "/v1/x/../me",
  "/../v1/me",
  "/v1/%2e/me",
  "/v1/%2e%2e/v1/me",
  // Broken percent-encoding names nothing.
  "/%",
  "/%zz",
  "/v1/orders/%",
  "/v1/orders/%zz",
  "/v1/orders/%f",
  "/v1/orders/%ff",
  "/v1/orders/%c3%28",
  "/v1/orders/%ed%a0%80",
  "/v1/products/%zz",
  // Other forms of a request target (RFC 9112, section 3.2).
  "*",
  "ftp://127.0.0.1/v1/me",
];

describe("a path outside the table", () => {
  it.each(UNMATCHED_PATHS)("%s returns 404 not-found, naming method and path", async (path) => {
    statements.length = 0;
    expectNoRoute(await send("GET", path), "GET", path);
    expectNoRoute(await send("GET", path, { authorization: `Bearer ${partner.key}` }), "GET", path);
    expectNoRoute(await send("POST", path, { "x-api-key": "no key of ours" }, "{}"), "POST", path);
    expect(statements).toEqual([]);
  });

  it("is named without its query, as received", async () => {
    expectNoRoute(await send("GET", "/v1/nothing?key=secret&x=%zz"), "GET", "/v1/nothing");
    expectNoRoute(await send("GET", "/v1/me/?limit=1"), "GET", "/v1/me/");
    expectNoRoute(await send("GET", "/v1/orders/%zz?x=1"), "GET", "/v1/orders/%zz");
  });

  it("may be as long as header fields may be", async () => {
    const path = `/v1/${"x".repeat(15_000)}`;
    expectNoRoute(await send("GET", path), "GET", path);
  });
});

describe("a method outside the table", () => {
  const standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
  const others = ["PROPFIND", "MKCOL", "LOCK", "SEARCH", "QUERY", "PURGE", "M-SEARCH", "SOURCE"];
  /** Node's parser knows none of these. Methods are case-sensitive (RFC 9110, section 9.1). */
  const unknown = ["FOO", "BREW", "get", "Get", "GETT", "G", "VERSION-CONTROL"];

  describe.each(ROUTES)("of %s %s", (only, path) => {
    it.each([...standard, ...others, ...unknown].filter((method) => method !== only))(
      "%s",
      async (method) => {
        statements.length = 0;
        for (const headers of [{}, { authorization: `Bearer ${partner.key}` }]) {
          const answer = await send(method, path, headers);
          // The response to HEAD has the header fields of the document, and no body.
          if (method === "HEAD") {
            expect(answer.status).toBe(404);
            expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
          } else {
            expectNoRoute(answer, method, path);
          }
        }
        expect(statements).toEqual([]);
      },
    );
  });

  it("OPTIONS * is no route either", async () => {
    expectNoRoute(await send("OPTIONS", "*"), "OPTIONS", "*");
  });

  it("CONNECT opens no tunnel", async () => {
    expectNoRoute(await send("CONNECT", "example.com:443"), "CONNECT", "example.com:443");
    expectNoRoute(await send("CONNECT", "/v1/me?x=1"), "CONNECT", "/v1/me");
  });

  it("CONNECT by a client that resets the connection at once leaves the service as it was", async () => {
    const { hostname, port } = new URL(url);
    for (let round = 0; round < 20; round += 1) {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on("error", () => undefined);
      await new Promise<void>((resolve) => socket.once("connect", resolve));
      socket.write("CONNECT example.com:443 HTTP/1.1\r\nhost: a\r\n\r\n");
      socket.resetAndDestroy();
    }
    expect((await send("GET", "/v1/me", { authorization: `Bearer ${partner.key}` })).status).toBe(200);
  });

  it("is not overridden by a header field", async () => {
    const headers = { "x-http-method-override": "GET", authorization: `Bearer ${partner.key}` };
    expectNoRoute(await send("PUT", "/v1/me", headers), "PUT", "/v1/me");
  });
});

describe("an unmatched request returns before anything else of it is checked", () => {
  const bodies: [name: string, headers: Record<string, string>, body: string | Buffer][] = [
    ["malformed JSON", { "content-type": "application/json" }, "{"],
    ["an empty JSON body", { "content-type": "application/json" }, ""],
    ["invalid UTF-8", { "content-type": "application/json" }, Buffer.from([0xff, 0xfe])],
    ["a body that is too large", { "content-type": "application/json" }, "x".repeat(BODY_LIMIT_BYTES + 1)],
    ["the wrong media type", { "content-type": "text/xml" }, "<order/>"],
    ["a broken media type", { "content-type": ";;;" }, "x"],
    ["no media type", {}, "x"],
  ];

  it.each(bodies)("with %s", async (_name, headers, body) => {
    for (const key of [{}, { authorization: `Bearer ${partner.key}` }]) {
      expectNoRoute(await send("POST", "/v1/nothing", { ...headers, ...key }, body), "POST", "/v1/nothing");
      expectNoRoute(await send("PUT", "/v1/orders", { ...headers, ...key }, body), "PUT", "/v1/orders");
      expectNoRoute(
        await send("POST", "/v1/orders/%zz", { ...headers, ...key }, body),
        "POST",
        "/v1/orders/%zz",
      );
    }
  });

  it("with a revoked key", async () => {
    const { id, key } = await createKey(test, partner.connectionId);
    await test.backOffice.post(`/api/keys/${id}/revoke`);
    expectNoRoute(await send("GET", "/v1/nothing", { authorization: `Bearer ${key}` }), "GET", "/v1/nothing");
  });

  it("without a Host field", async () => {
    expectNoRoute(await exchange(url, Buffer.from("GET /v1/nothing HTTP/1.1\r\n\r\n")), "GET", "/v1/nothing");
  });

  it("with an expectation", async () => {
    expectNoRoute(await send("GET", "/v1/nothing", { expect: "the unexpected" }), "GET", "/v1/nothing");
    expectNoRoute(await send("POST", "/v1/nothing", { expect: "100-continue" }, "x"), "POST", "/v1/nothing");
  });

  it("with a wish for another protocol", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    expectNoRoute(await send("GET", "/v1/nothing", upgrade), "GET", "/v1/nothing");
    const h2c = {
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABkAAQAAP__",
    };
    expectNoRoute(await send("GET", "/v1/nothing", h2c), "GET", "/v1/nothing");
  });

  it("and the connection continues with the next request, after the unread body", async () => {
    const connection = await openConnection(url);
    const body = "x".repeat(BODY_LIMIT_BYTES * 2);
    connection.send(requestText("POST /v1/nothing HTTP/1.1", { "content-type": "application/json" }, body));
    expectNoRoute(await connection.answer(), "POST", "/v1/nothing");
    connection.send(requestText("GET /v1/me HTTP/1.1", { authorization: `Bearer ${partner.key}` }));
    expect((await connection.answer()).status).toBe(200);
    connection.close();
  });
});

describe("a path inside the table", () => {
  it("matches with any query", async () => {
    const headers = { authorization: `Bearer ${partner.key}` };
    expect((await send("GET", "/v1/me?", headers)).status).toBe(200);
    expect((await send("GET", "/v1/me?x=%zz&&=", headers)).status).toBe(200);
  });

  it("takes an id in any encoding, a slash in it only when encoded", async () => {
    const headers = { authorization: `Bearer ${partner.key}` };
    const detail = async (path: string) => JSON.parse((await send("GET", path, headers)).body).detail;
    expect(await detail("/v1/orders/a%2Fb")).toBe("No such order.");
    expect(await detail("/v1/orders/..")).toBe("No such order.");
    expect(await detail("/v1/orders/a/b")).toBe("No route matches GET /v1/orders/a/b.");
  });
});
