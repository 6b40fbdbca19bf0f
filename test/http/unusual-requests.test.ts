import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anAddress, anOrder } from "../support/builders.ts";
import { exchange, openConnection, requestText } from "../support/sockets.ts";
import { startWatchedListener, type WatchedListener } from "../support/watched-listener.ts";

let wire: WatchedListener;
beforeAll(async () => {
  wire = await startWatchedListener();
});
afterAll(() => wire.close());

describe("cases that hurt", () => {
  const orderText = (fields: string) =>
    `${JSON.stringify({ ...anOrder(wire.partner), externalOrderId: crypto.randomUUID() }).slice(0, -1)},${fields}}`;

  it.each<[name: string, fields: string]>([
    ["__proto__", '"__proto__":{"testMode":true}'],
    ["constructor.prototype", '"constructor":{"prototype":{"testMode":true}}'],
    ["the names of methods", '"toString":1,"hasOwnProperty":2,"valueOf":3'],
    ["100 000 brackets", `"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["30 000 objects in one another", `"deep":${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}`],
    ["a very large number", '"large":1e400'],
    ["20 000 members", Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(",")],
    ["NUL and lone surrogates", '"\\u0000":"\\ud800"'],
  ])("unknown fields are ignored, also %s", async (_name, fields) => {
    const { status, body } = await wire.postOrder(orderText(fields));
    expect(status, body).toBe(201);
    expect(JSON.parse(body).testMode).toBe(false);
  });

  it("a field that is inherited is not one that was sent", async () => {
    const { firstName, ...address } = anAddress();
    const text = JSON.stringify(anOrder(wire.partner, { shippingAddress: address })).replace(
      '"shippingAddress":{',
      `"shippingAddress":{"__proto__":{"firstName":"${firstName}"},`,
    );
    const { status, body } = await wire.postOrder(text);
    expect(status).toBe(422);
    expect(JSON.parse(body).errors).toMatchObject([{ pointer: "/shippingAddress/firstName" }]);
  });

  it.each([
    "1e400",
    "-1e400",
    "1e308",
    "9007199254740993",
    "2147483648",
    "100001",
    "1.5",
    "-1",
    "0",
    "-0",
    '"1"',
    "[1]",
  ])("a quantity of %s is rejected with 422", async (quantity) => {
    const text = JSON.stringify(anOrder(wire.partner)).replace('"quantity":1', `"quantity":${quantity}`);
    const { status, body } = await wire.postOrder(text);
    expect(status, body).toBe(422);
    expect(JSON.parse(body).errors).toMatchObject([{ pointer: "/lines/0/quantity" }]);
  });

  it.each(["1.0", "1e0", "10e-1"])("a quantity of %s is 1", async (quantity) => {
    const text = JSON.stringify(anOrder(wire.partner)).replace('"quantity":1', `"quantity":${quantity}`);
    const { status, body } = await wire.postOrder(text);
    expect(status, body).toBe(201);
    expect(JSON.parse(body).lines[0].quantity).toBe(1);
  });

  it("of a member sent twice the last one counts, as JSON parsers do", async () => {
    const text = orderText('"testMode":false,"testMode":true');
    expect(JSON.parse((await wire.postOrder(text)).body).testMode).toBe(true);
  });

  it("for a body with very many errors, the response lists some of them", async () => {
    const text = JSON.stringify({ lines: Array.from({ length: 20_000 }, () => ({})) });
    const { status, body } = await wire.postOrder(text);
    expect(status).toBe(422);
    expect(JSON.parse(body).errors.length).toBeLessThanOrEqual(500);
  });

  it("a key of bytes beyond ASCII is a key: it replays", async () => {
    const order = JSON.stringify(anOrder(wire.partner));
    const headers = { "idempotency-key": "\u00ff\u0080 \u00e9" };
    const first = await wire.postOrder(order, headers);
    const second = await wire.postOrder(order, headers);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(JSON.parse(second.body).id).toBe(JSON.parse(first.body).id);
  });

  it.each(["Infinity", "-Infinity", "1e400", "%E2%88%9E"])(
    "a limit of %s is rejected with 422",
    async (limit) => {
      expect((await wire.send("GET", `/v1/products?limit=${limit}`, wire.authorized())).status).toBe(422);
    },
  );

  it.each([
    "%00",
    "%0A",
    "%FF",
    "%F0%9F%98%80",
    "%C3%A9",
    "%E2%80%AE",
    "%25",
    "%2F",
    "..",
    "%2e%2e",
    "%EF%BF%BF",
  ])("an order named %s is not there", async (id) => {
    for (const [method, path] of [
      ["GET", `/v1/orders/${id}`],
      ["POST", `/v1/orders/${id}/cancel`],
      ["POST", `/v1/test/orders/${id}/transitions`],
    ] as const)
      expect((await wire.send(method, path, wire.authorizedJson(), '{"transition":"accept"}')).status).toBe(
        404,
      );
  });

  it.each(["http://127.0.0.1", "https://api.example:8443", "HTTP://API.EXAMPLE"])(
    "a target in absolute form is the path behind %s (RFC 9112, section 3.2.2)",
    async (origin) => {
      const read = (target: string) =>
        exchange(wire.url, requestText(`GET ${target} HTTP/1.1`, wire.authorized()));
      expect((await read(`${origin}/v1/me`)).body).toBe((await read("/v1/me")).body);
      expect((await read(`${origin}/v1/products?limit=0`)).status).toBe(422);
      for (const [target, path] of [
        ["/v1/nothing?x=/v1/me", "/v1/nothing"],
        ["//v1/me", "//v1/me"],
        ["/", "/"],
        ["", "/"],
        ["?x=1", "/"],
      ]) {
        const { status, body } = await read(`${origin}${target}`);
        expect([status, JSON.parse(body).instance]).toEqual([404, path]);
      }
    },
  );

  it("a target in absolute form without a host is no path", async () => {
    const { status } = await exchange(wire.url, requestText("GET http:///v1/me HTTP/1.1", wire.authorized()));
    expect(status).toBe(404);
  });

  it("requests that are sent without waiting get their responses in order", async () => {
    const connection = await openConnection(wire.url);
    const paths = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 0 ? "/v1/me" : `/v1/nothing-${index}`,
    );
    connection.send(
      Buffer.concat(paths.map((path) => requestText(`GET ${path} HTTP/1.1`, wire.authorized()))),
    );
    for (const path of paths) {
      const { status, body } = await connection.answer();
      if (path === "/v1/me") expect(status).toBe(200);
      else expect(JSON.parse(body).instance).toBe(path);
    }
    connection.close();
  });
});
