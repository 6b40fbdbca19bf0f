import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { openDatabase } from "../../src/database/database.ts";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { PROBLEMS, type ProblemCode } from "../../src/http/problems.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { ENDPOINTS_MAX } from "../../src/webhooks/create-endpoint.ts";
import { anOrder, createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../support/database-proxy.ts";
import { exchange, listen, type RawAnswer, requestText } from "../support/sockets.ts";
import {
  createDatabase,
  OPERATOR_TOKEN,
  startServiceForTest,
  startTestService,
  type TestService,
} from "../support/test-service.ts";
import { anEndpoint, createEndpoint, ENDPOINTS, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

const ERRORS_BASE_URL = "https://docs.example/errors";

let test: TestService;
let partner: Partner;
let app: ReturnType<typeof createPartnerApi>;
let url: string;

beforeAll(async () => {
  test = await startTestService({ config: { errorsBaseUrl: ERRORS_BASE_URL } });
  partner = await createPartner(test);
  app = createPartnerApi(test.service, createMetrics());
  url = await listen(app);
});
afterAll(async () => {
  await app.close();
  await test.close();
});

type Refused = { status: number; headers: Record<string, string | undefined>; document: Document };
type Document = Record<string, unknown> & { type: string; detail: string };

/** What only the inside knows: code, files, statements, tables, drivers and their words. */
const INTERNAL = [
  /\bat .*:\d+|\.[jt]s\b|node_modules|\/work\/|\/src\/|stack/,
  /\b(select|insert|update|delete)\s+\w+\s+(from|into|set)\b|relation|column|constraint|_products|\bpg\b|postgres/i,
  /\bE(CONN|PIPE|TIMED|NOT|ADDR)[A-Z]*\b|\b(FST|HPE|ERR)_|SQLSTATE|\b\d{2}[A-Z]\d{2}\b/,
  /127\.0\.0\.1|undefined|\[object|NaN/,
];

function expectNothingInternal(text: string): void {
  for (const pattern of INTERNAL) expect(text).not.toMatch(pattern);
}

/** The answer is this problem, whole and well-formed, and tells nothing internal. */
function expectProblem(answer: Refused, code: ProblemCode, instance: string): void {
  const { status, headers, document } = answer;
  expect(document, JSON.stringify(document)).toMatchObject({
    type: `${ERRORS_BASE_URL}/${code}`,
    title: PROBLEMS[code].title,
    status: PROBLEMS[code].status,
    detail: expect.stringMatching(/^[A-Z].*\.$/),
    instance,
  });
  expect(status).toBe(PROBLEMS[code].status);
  expect(headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,100}$/);
  expectNothingInternal(JSON.stringify({ ...document, instance: "" }));
  expectNothingInternal(JSON.stringify({ ...headers, "x-request-id": "" }));
}

const authorized = () => ({ authorization: `Bearer ${partner.key}` });
const authorizedJson = () => ({ ...authorized(), "content-type": "application/json" });

const refused = ({ status, headers, body }: RawAnswer): Refused => ({
  status,
  headers,
  document: JSON.parse(body),
});

/** Sends a request as bytes over a connection of its own. */
const sendRaw = async (bytes: string | Buffer): Promise<Refused> => refused(await exchange(url, bytes));

const send = (
  line: string,
  headers: Record<string, string | string[]> = authorized(),
  body?: string | Buffer,
): Promise<Refused> => sendRaw(requestText(`${line} HTTP/1.1`, headers, body));

const chunked = (line: string, headers: Record<string, string>, chunks: string): Promise<Refused> =>
  sendRaw(
    `${requestText(`${line} HTTP/1.1`, { ...headers, "transfer-encoding": "chunked" }).toString("latin1")}${chunks}`,
  );

const postOrder = (order: object, headers: Record<string, string> = {}) =>
  send("POST /v1/orders", { ...authorizedJson(), ...headers }, JSON.stringify(order));

async function inject(listener: typeof app, path: string): Promise<Refused> {
  const { statusCode, headers, body } = await listener.inject({ url: path, headers: authorized() });
  const texts = headers as Record<string, string>; // None of its fields is repeated.
  return { status: statusCode, headers: texts, document: JSON.parse(body) };
}

describe("every code of the table", () => {
  /** A request that is answered by the code, and the path that the problem names. */
  const PROVOCATIONS: Record<ProblemCode, () => Promise<[answer: Refused, instance: string]>> = {
    "malformed-request": async () => [await send("POST /v1/orders", authorizedJson(), "{"), "/v1/orders"],
    "idempotency-key-missing": async () => {
      const { externalOrderId: _, ...order } = anOrder(partner);
      return [await postOrder(order), "/v1/orders"];
    },
    unauthorized: async () => [await send("GET /v1/me", {}), "/v1/me"],
    "not-found": async () => [await send("GET /v1/orders/nothing"), "/v1/orders/nothing"],
    "order-not-cancelable": async () => {
      const { id } = await placeTestOrder(partner);
      await partner.client.post(`/v1/test/orders/${id}/transitions`, { transition: "accept" });
      return [await send(`POST /v1/orders/${id}/cancel`), `/v1/orders/${id}/cancel`];
    },
    "order-already-exists": async () => {
      const { externalOrderId } = await placeOrder(partner);
      const order = anOrder(partner, { externalOrderId });
      return [await postOrder(order, { "idempotency-key": `another ${externalOrderId}` }), "/v1/orders"];
    },
    "transition-refused": async () => {
      const { id } = await placeTestOrder(partner);
      const path = `/v1/test/orders/${id}/transitions`;
      return [await send(`POST ${path}`, authorizedJson(), '{"transition":"complete"}'), path];
    },
    "endpoint-paused": async () => {
      const { id } = await createEndpoint(partner);
      await pauseEndpoint(test, id);
      return [await send(`POST ${endpointPath(id, "ping")}`), endpointPath(id, "ping")];
    },
    "endpoint-limit-reached": async () => {
      const full = await createPartner(test);
      for (let count = 0; count < ENDPOINTS_MAX; count += 1) await createEndpoint(full);
      const headers = { ...authorizedJson(), authorization: `Bearer ${full.key}` };
      return [await send(`POST ${ENDPOINTS}`, headers, JSON.stringify(anEndpoint())), ENDPOINTS];
    },
    "payload-too-large": async () => [
      await send("POST /v1/orders", authorizedJson(), " ".repeat(BODY_LIMIT_BYTES + 1)),
      "/v1/orders",
    ],
    "unsupported-media-type": async () => [
      await send("POST /v1/orders", { ...authorized(), "content-type": "text/plain" }, "{}"),
      "/v1/orders",
    ],
    "validation-failed": async () => [await postOrder({}), "/v1/orders"],
    "idempotency-key-reused": async () => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      await postOrder(anOrder(partner), headers);
      return [await postOrder(anOrder(partner), headers), "/v1/orders"];
    },
    "rate-limited": () => provokeRateLimit(),
    "internal-error": () => provokeInternalError(),
    unavailable: () => provokeUnavailable(),
  };

  const STATUSES: Record<ProblemCode, number> = {
    "malformed-request": 400,
    "idempotency-key-missing": 400,
    unauthorized: 401,
    "not-found": 404,
    "order-not-cancelable": 409,
    "order-already-exists": 409,
    "transition-refused": 409,
    "endpoint-paused": 409,
    "endpoint-limit-reached": 409,
    "payload-too-large": 413,
    "unsupported-media-type": 415,
    "validation-failed": 422,
    "idempotency-key-reused": 422,
    "rate-limited": 429,
    "internal-error": 500,
    unavailable: 503,
  };

  /** Members beyond the five that every problem has. */
  const MEMBERS: Partial<Record<ProblemCode, string[]>> = {
    "order-not-cancelable": ["orderStatus"],
    "order-already-exists": ["externalOrderId", "orderId"],
    "transition-refused": ["orderStatus", "rule", "transition"],
    "validation-failed": ["errors"],
  };

  const codes = Object.keys(PROBLEMS) as ProblemCode[]; // The table's own keys.

  it.each(codes)("%s is answered as the table says, and tells nothing internal", async (code) => {
    const [answer, instance] = await PROVOCATIONS[code]();
    expectProblem(answer, code, instance);
    expect(answer.status).toBe(STATUSES[code]);
    const base = ["detail", "instance", "status", "title", "type"];
    expect(Object.keys(answer.document).sort()).toEqual([...base, ...(MEMBERS[code] ?? [])].sort());
  });

  it("has the titles that the specification gives", () => {
    expect(PROBLEMS["not-found"].title).toBe("Resource not found");
    expect(PROBLEMS["order-not-cancelable"].title).toBe("Order cannot be canceled");
  });

  it.each(codes)("%s has a page where its type leads to", async (code) => {
    const backOffice = createBackOffice(test.service, OPERATOR_TOKEN, createMetrics());
    const page = await backOffice.inject(`/errors/${code}`);
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    for (const text of [code, String(PROBLEMS[code].status), PROBLEMS[code].title])
      expect(page.body).toContain(text);
  });

  it("stands in docs/problems.md, and nothing else does", () => {
    const rows = readFileSync("docs/problems.md", "utf8").matchAll(
      /^\| *`?([a-z][a-z-]*)`? *\| *(\d{3}) *\| *([^|]+?) *\|/gm,
    );
    const documented = [...rows].map(([, code, status, title]) => ({ code, status: Number(status), title }));
    const inCode = Object.entries(PROBLEMS).map(([code, { status, title }]) => ({ code, status, title }));
    expect(documented).toEqual(inCode);
  });

  it("has no page for a code outside the table", async () => {
    const answer = await test.backOffice.get("/errors/no-such-code");
    expect(answer.status).toBe(404);
    expect(answer.body.type).toBe(`${ERRORS_BASE_URL}/not-found`);
  });

  async function provokeRateLimit(): Promise<[Refused, string]> {
    const config = { ...test.service.config, rateLimitPerMinute: 1 };
    const limited = createPartnerApi({ ...test.service, config }, createMetrics());
    expect((await inject(limited, "/v1/me")).status).toBe(200);
    return [await inject(limited, "/v1/me"), "/v1/me"];
  }
});

describe("a problem document", () => {
  it("names the path as it was sent, without its query", async () => {
    expectProblem(await send("GET /v1/orders/a%2Fb?key=secret"), "not-found", "/v1/orders/a%2Fb");
    expectProblem(await send("GET /v1/products?limit=0"), "validation-failed", "/v1/products");
  });

  it("keeps a request id that the client sent, when it is short and harmless", async () => {
    const { headers } = await send("GET /v1/nothing", { "x-request-id": "checkout-1.2_A" });
    expect(headers["x-request-id"]).toBe("checkout-1.2_A");
  });

  it.each(["", " ", "a b", "x".repeat(101), "<script>", '"quoted"', "a\tb", "\u00e9", "{}"])(
    "replaces the request id %j by one of its own",
    async (sent) => {
      const { headers } = await send("GET /v1/nothing", { "x-request-id": sent });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it("has another request id every time", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await send("GET /v1/nothing")).headers["x-request-id"]),
    );
    expect(new Set(ids).size).toBe(20);
  });

  it("writes whatever the path holds as JSON", async () => {
    const path = `/v1/"quoted"\\<b>&'{}`;
    expectProblem(await send(`GET ${path}`), "not-found", path);
  });

  it("does not say by what the service is made", async () => {
    const { headers } = await send("GET /v1/nothing");
    expect(headers["server"]).toBeUndefined();
    expect(headers["x-powered-by"]).toBeUndefined();
  });
});

describe("a body that cannot be read", () => {
  const order = () => send("POST /v1/orders", authorizedJson());
  const orderOf = (body: string | Buffer) => send("POST /v1/orders", authorizedJson(), body);

  it.each<[name: string, body: string | Buffer]>([
    ["half a document", '{"lines":['],
    ["no JSON", "lines=1"],
    ["two documents", "{}{}"],
    ["a single quote", "{'a':1}"],
    ["a trailing comma", '{"a":1,}'],
    ["a comment", "{} // done"],
    ["NaN", '{"a":NaN}'],
    ["a control character in a string", '{"a":"\u0001"}'],
    ["spaces", "   "],
    ["nothing", ""],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["an encoded surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["an overlong encoding", Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ["UTF-16", Buffer.from("{}", "utf16le")],
    ["compressed bytes", Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
    ["brackets that never close", "[".repeat(100_000)],
  ])("is malformed: %s", async (_name, body) => {
    expectProblem(await orderOf(body), "malformed-request", "/v1/orders");
  });

  it("is malformed when there is none, with or without a media type", async () => {
    expectProblem(await order(), "malformed-request", "/v1/orders");
    expectProblem(await send("POST /v1/orders"), "malformed-request", "/v1/orders");
    expectProblem(
      await chunked("POST /v1/orders", authorizedJson(), "0\r\n\r\n"),
      "malformed-request",
      "/v1/orders",
    );
    const { id } = await placeTestOrder(partner);
    const path = `/v1/test/orders/${id}/transitions`;
    expectProblem(await send(`POST ${path}`), "malformed-request", path);
  });

  it("does not repeat what was sent", async () => {
    const { document } = await orderOf('{"firstName":"Ada Lovelace"');
    expect(JSON.stringify(document)).not.toContain("Ada");
  });

  it("is not a matter for routes that take none", async () => {
    const { id } = await placeOrder(partner);
    for (const type of ["application/json", "text/plain", ";;;", "", "multipart/form-data"]) {
      const answer = await exchange(
        url,
        requestText(`POST /v1/orders/${id}/cancel HTTP/1.1`, { ...authorized(), "content-type": type }, "{"),
      );
      expect(answer.status, `${type}: ${answer.body}`).toBe(200);
    }
    const get = requestText("GET /v1/me HTTP/1.1", authorizedJson(), "{");
    expect((await exchange(url, get)).status).toBe(200);
  });
});

describe("a media type", () => {
  const orderAs = (type: string | string[] | null) =>
    send(
      "POST /v1/orders",
      { ...authorized(), ...(type !== null && { "content-type": type }) },
      JSON.stringify(anOrder(partner)),
    );

  it.each([
    "text/plain",
    "text/json",
    "application/jsonx",
    "application/vnd.api+json",
    "application/problem+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json, text/plain",
    "application",
    "application/",
    "/json",
    "*/*",
    ";;;",
    "",
  ])("%j is refused with 415", async (type) => {
    expectProblem(await orderAs(type), "unsupported-media-type", "/v1/orders");
  });

  it("that is missing is refused with 415", async () => {
    expectProblem(await orderAs(null), "unsupported-media-type", "/v1/orders");
  });

  it.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
  ])("%s is taken", async (type) => {
    expect((await orderAs(type)).status).toBe(201);
  });
});

describe("a body of 256 KiB", () => {
  const padded = (bytes: number) => {
    const order = JSON.stringify(anOrder(partner));
    return order.padEnd(bytes, " ");
  };
  const asChunks = (body: string) => {
    const half = Math.floor(body.length / 2);
    const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
    return `${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`;
  };

  it("is taken, with a length and in chunks", async () => {
    const whole = await send("POST /v1/orders", authorizedJson(), padded(BODY_LIMIT_BYTES));
    expect(whole.status).toBe(201);
    const pieces = await chunked("POST /v1/orders", authorizedJson(), asChunks(padded(BODY_LIMIT_BYTES)));
    expect(pieces.status).toBe(201);
  });

  it("is the most: one byte more is refused with 413", async () => {
    const body = padded(BODY_LIMIT_BYTES + 1);
    expectProblem(await send("POST /v1/orders", authorizedJson(), body), "payload-too-large", "/v1/orders");
    expectProblem(
      await chunked("POST /v1/orders", authorizedJson(), asChunks(body)),
      "payload-too-large",
      "/v1/orders",
    );
  });

  it("is the most by its announced length already: the rest is not waited for", async () => {
    const headers = { ...authorizedJson(), "content-length": String(10 ** 12) };
    expectProblem(await send("POST /v1/orders", headers), "payload-too-large", "/v1/orders");
  });

  it("counts bytes, not characters", async () => {
    const order = anOrder(partner, { note: "é".repeat(BODY_LIMIT_BYTES / 2) });
    expectProblem(await postOrder(order), "payload-too-large", "/v1/orders");
  });

  it("is the most also where the body does not matter", async () => {
    const { id } = await placeOrder(partner);
    const path = `/v1/orders/${id}/cancel`;
    const body = "x".repeat(BODY_LIMIT_BYTES + 1);
    expectProblem(await send(`POST ${path}`, authorizedJson(), body), "payload-too-large", path);
    expect((await partner.client.get(`/v1/orders/${id}`)).body.status).toBe("NEW");
    // Described for that route as well: the client of the tests checks it.
    await partner.client.request("POST", path, { rawBody: body });
  });

  it("is told only to those who have a key", async () => {
    const body = "x".repeat(BODY_LIMIT_BYTES + 1);
    expectProblem(await send("POST /v1/orders", {}, body), "unauthorized", "/v1/orders");
  });
});

describe("what is not HTTP/1.1", () => {
  /** The request's path is unknown when its first line could not be read. */
  const unread = "/";
  const host = "host: 127.0.0.1\r\n";

  it.each<[name: string, bytes: string | Buffer, instance: string]>([
    [
      "header fields beyond 16 KiB",
      requestText("GET /v1/me HTTP/1.1", { filler: "x".repeat(20_000) }),
      unread,
    ],
    [
      "very many header fields",
      requestText("GET /v1/me HTTP/1.1", { filler: Array.from({ length: 5_000 }, () => "x") }),
      unread,
    ],
    ["a path beyond 16 KiB", `GET /v1/orders/${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, unread],
    ["version 1.2", `GET /v1/me HTTP/1.2\r\n${host}\r\n`, unread],
    ["version 9.9", `GET /v1/me HTTP/9.9\r\n${host}\r\n`, unread],
    ["version 2.0 in the words of 1.1", `GET /v1/me HTTP/2.0\r\n${host}\r\n`, "/v1/me"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", unread],
    ["version 0.9", "GET /v1/me\r\n\r\n", "/v1/me"],
    ["another protocol", `GET /v1/me FTP/1.1\r\n${host}\r\n`, unread],
    ["the beginning of TLS", Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0x0d, 0x0a]), unread],
    ["zero bytes", Buffer.alloc(100), unread],
    ["text", "hello\r\n\r\n", unread],
    ["SMTP", "EHLO example.com\r\n", unread],
    ["a target without a slash", `GET v1/me HTTP/1.1\r\n${host}\r\n`, unread],
    ["only a query", `GET ?x HTTP/1.1\r\n${host}\r\n`, unread],
    ["a space in the path", `GET /v1/m e HTTP/1.1\r\n${host}\r\n`, unread],
    [
      "bytes beyond ASCII in the path",
      Buffer.from(`GET /v1/m\xe9 HTTP/1.1\r\n${host}\r\n`, "latin1"),
      unread,
    ],
    ["a header line without a colon", `GET /v1/me HTTP/1.1\r\n${host}nothing\r\n\r\n`, unread],
    ["a space before the colon", `GET /v1/me HTTP/1.1\r\nhost : a\r\n\r\n`, unread],
    ["a folded header line", `GET /v1/me HTTP/1.1\r\n${host}x: 1\r\n  2\r\n\r\n`, unread],
    ["a control character in a value", `GET /v1/me HTTP/1.1\r\n${host}x: a\x01b\r\n\r\n`, unread],
    ["a zero byte in a value", `GET /v1/me HTTP/1.1\r\n${host}x: a\0b\r\n\r\n`, unread],
    ["bare line feeds", "GET /v1/me HTTP/1.1\nhost: a\n\n", unread],
    ["no Host field", "GET /v1/me HTTP/1.1\r\n\r\n", "/v1/me"],
    ["two Host fields", "GET /v1/me HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", "/v1/me"],
    ["a length that is no number", `POST /v1/orders HTTP/1.1\r\n${host}content-length: x\r\n\r\n`, unread],
    ["a negative length", `POST /v1/orders HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`, unread],
    [
      "two lengths",
      `POST /v1/orders HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`,
      unread,
    ],
    [
      "a length and chunks",
      `POST /v1/orders HTTP/1.1\r\n${host}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      unread,
    ],
    [
      "an unknown transfer coding",
      `POST /v1/orders HTTP/1.1\r\n${host}transfer-encoding: gzip\r\n\r\nx`,
      unread,
    ],
  ])("is malformed: %s", async (_name, bytes, instance) => {
    expectProblem(await sendRaw(bytes), "malformed-request", instance);
  });

  it("is malformed in the middle of a body", async () => {
    expectProblem(
      await chunked("POST /v1/orders", authorizedJson(), "not a size\r\n"),
      "malformed-request",
      unread,
    );
  });

  it("is let go, even when the client never closes its side", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    socket.write("GARBAGE\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    const connections = () =>
      new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 20_000, interval: 100 });
  });

  it("does not take HTTP/1.0 for it", async () => {
    const bytes = `GET /v1/me HTTP/1.0\r\nauthorization: Bearer ${partner.key}\r\n\r\n`;
    expect((await exchange(url, bytes)).status).toBe(200);
  });

  it("does not take an expectation for it, whatever it is (RFC 9110, section 10.1.1)", async () => {
    for (const expectation of ["100-continue", "something", "100-continue, something"]) {
      const headers = { ...authorizedJson(), expect: expectation };
      expectProblem(await send("POST /v1/orders", headers, "{}"), "validation-failed", "/v1/orders");
    }
  });
});

describe("a fault of the service", () => {
  it("is answered with a bare 500, whatever it was", async () => {
    const [answer] = await provokeInternalError();
    expect(answer.document.detail).toBe("The request failed; it is safe to retry.");
  });
});

/** The statement fails in a way that no operation foresees. */
async function provokeInternalError(): Promise<[Refused, string]> {
  const broken = await startServiceForTest({ config: { errorsBaseUrl: ERRORS_BASE_URL } });
  const { client } = await createPartner(broken);
  await broken.db.runScript("alter table exposed_products rename to secret_table");
  const { status, headers, body } = await client.get("/v1/products");
  return [{ status, headers, document: body }, "/v1/products"];
}

/** Nothing listens at the database's address. */
async function provokeUnavailable(): Promise<[Refused, string]> {
  const db = openDatabase({
    url: "postgres://user:password@127.0.0.1:1/nowhere",
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  const answer = await inject(createPartnerApi({ ...test.service, db }, createMetrics()), "/v1/me");
  await db.close();
  return [answer, "/v1/me"];
}

describe("a database that is gone", () => {
  let proxy: DatabaseProxy;
  let service: TestService;
  let served: Partner;

  beforeAll(async () => {
    proxy = await startDatabaseProxy(await createDatabase());
    service = await startTestService({ databaseUrl: proxy.url, config: { errorsBaseUrl: ERRORS_BASE_URL } });
    served = await createPartner(service);
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await service.close();
    await proxy.close();
  });

  const requests = (order: {
    id: string;
    testId: string;
  }): [method: string, path: string, body?: object][] => [
    ["POST", "/v1/orders", anOrder(served)],
    ["GET", `/v1/orders/${order.id}`],
    ["POST", `/v1/orders/${order.id}/cancel`],
    ["GET", "/v1/products"],
    ["GET", `/v1/products/${served.productIds[0]}`],
    ["GET", "/v1/me"],
    ["GET", ENDPOINTS],
    ["GET", "/v1/deliveries"],
    ["GET", "/v1/events"],
    ["POST", `/v1/test/orders/${order.testId}/transitions`, { transition: "accept" }],
  ];

  it("is 503 unavailable with Retry-After on every route, and all goes on when it is back", async () => {
    const { id } = await placeOrder(served);
    const { id: testId } = await placeTestOrder(served);
    const all = requests({ id, testId });
    await proxy.cut();
    for (const [method, path, body] of all) {
      const answer = await served.client.request(method, path, body && { body });
      const { status, headers } = answer;
      expectProblem({ status, headers, document: answer.body }, "unavailable", path);
      expect(headers["retry-after"], `${method} ${path}`).toBe("5");
    }
    const readiness = await service.backOffice.get("/api/merchants");
    expect(readiness.status).toBe(503);
    expect(readiness.headers["retry-after"]).toBe("5");

    await proxy.restore();
    for (const [method, path, body] of all) {
      const { status, body: answer } = await served.client.request(method, path, body && { body });
      expect(status, `${method} ${path}: ${JSON.stringify(answer)}`).toBe(path === "/v1/orders" ? 201 : 200);
    }
    await proxy.cut();
  });

  it("is 503 for each of many requests at once, and none of them is half done", async () => {
    const order = anOrder(served, { externalOrderId: "while-away" });
    await proxy.cut();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => served.client.post("/v1/orders", order)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 503));
    await proxy.restore();
    expect((await served.client.get("/v1/orders/while-away")).status).toBe(404);
    expect((await served.client.post("/v1/orders", order)).status).toBe(201);
    await proxy.cut();
  });

  it("does not take the paths outside the table with it: they need no look-up", async () => {
    await proxy.cut();
    expect((await served.client.get("/v1/nothing")).status).toBe(404);
    expect((await service.partner().get("/v1/me")).status).toBe(401);
  });

  it("while it ends the connections of the service, answers 503 or goes on, and never 500", async () => {
    const terminate = () =>
      test.db.query({ name: "test-terminate", text: TERMINATE_OTHERS, values: [databaseName(proxy.url)] });
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 15 === 7) await terminate();
        return served.client.post("/v1/orders", anOrder(served));
      }),
    );
    for (const { status, body } of answers) expect([201, 503], JSON.stringify(body)).toContain(status);
    expect((await served.client.get("/v1/me")).status).toBeOneOf([200, 503]);
    expect((await served.client.get("/v1/me")).status).toBe(200);
    await proxy.cut();
  });
});

const TERMINATE_OTHERS =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()";
const databaseName = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1);
