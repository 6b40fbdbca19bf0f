import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { anOrder, placeOrder, placeTestOrder } from "../support/builders.ts";
import { expectRejection, startWire, type Wire } from "../support/rejections.ts";
import { exchange, requestText } from "../support/sockets.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

describe("a body that cannot be read", () => {
  const order = () => wire.send("POST /v1/orders", wire.authorizedJson());
  const orderOf = (body: string | Buffer) => wire.send("POST /v1/orders", wire.authorizedJson(), body);

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
    expectRejection(await orderOf(body), "malformed-request", "/v1/orders");
  });

  it("is malformed when there is none, with or without a media type", async () => {
    expectRejection(await order(), "malformed-request", "/v1/orders");
    expectRejection(await wire.send("POST /v1/orders"), "malformed-request", "/v1/orders");
    expectRejection(
      await wire.chunked("POST /v1/orders", wire.authorizedJson(), "0\r\n\r\n"),
      "malformed-request",
      "/v1/orders",
    );
    const { id } = await placeTestOrder(wire.partner);
    const path = `/v1/test/orders/${id}/transitions`;
    expectRejection(await wire.send(`POST ${path}`), "malformed-request", path);
  });

  it("does not repeat what was sent", async () => {
    const { document } = await orderOf('{"firstName":"Ada Lovelace"');
    expect(JSON.stringify(document)).not.toContain("Ada");
  });

  it("is not a matter for routes that take none", async () => {
    const { id } = await placeOrder(wire.partner);
    for (const type of ["application/json", "text/plain", ";;;", "", "multipart/form-data"]) {
      const answer = await exchange(
        wire.url,
        requestText(
          `POST /v1/orders/${id}/cancel HTTP/1.1`,
          { ...wire.authorized(), "content-type": type },
          "{",
        ),
      );
      expect(answer.status, `${type}: ${answer.body}`).toBe(200);
    }
    const get = requestText("GET /v1/me HTTP/1.1", wire.authorizedJson(), "{");
    expect((await exchange(wire.url, get)).status).toBe(200);
  });
});

describe("a media type", () => {
  const orderAs = (type: string | string[] | null) =>
    wire.send(
      "POST /v1/orders",
      { ...wire.authorized(), ...(type !== null && { "content-type": type }) },
      JSON.stringify(anOrder(wire.partner)),
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
  ])("%j is rejected with 415", async (type) => {
    expectRejection(await orderAs(type), "unsupported-media-type", "/v1/orders");
  });

  it("that is missing is rejected with 415", async () => {
    expectRejection(await orderAs(null), "unsupported-media-type", "/v1/orders");
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

describe("a content coding", () => {
  const encodedAs = (coding: string, body: string | Buffer) =>
    wire.send("POST /v1/orders", { ...wire.authorizedJson(), "content-encoding": coding }, body);
  const orderText = () => JSON.stringify(anOrder(wire.partner));

  it.each(["gzip", "GZIP", "br", "deflate", "identity, gzip", "unknown", ""])(
    "%j is rejected with 415, whether or not the body has it",
    async (coding) => {
      for (const body of [orderText(), gzipSync(orderText())]) {
        const answer = await encodedAs(coding, body);
        expectRejection(answer, "unsupported-media-type", "/v1/orders");
        expect(answer.document.detail).toContain("Content-Encoding");
        expect(answer.headers["accept-encoding"]).toBe("identity");
      }
    },
  );

  it.each(["identity", "Identity"])("%s is none", async (coding) => {
    expect((await encodedAs(coding, orderText())).status).toBe(201);
  });

  it("does not matter where no body is used", async () => {
    const { id } = await placeOrder(wire.partner);
    const path = `/v1/orders/${id}/cancel`;
    const headers = { ...wire.authorizedJson(), "content-encoding": "gzip" };
    expect((await wire.send(`POST ${path}`, headers, gzipSync("{}"))).status).toBe(200);
    expect((await wire.send("GET /v1/me", headers)).status).toBe(200);
  });
});

describe("a body of 256 KiB", () => {
  const padded = (bytes: number) => {
    const order = JSON.stringify(anOrder(wire.partner));
    return order.padEnd(bytes, " ");
  };
  const asChunks = (body: string) => {
    const half = Math.floor(body.length / 2);
    const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
    return `${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`;
  };

  it("is taken, with a length and in chunks", async () => {
    const whole = await wire.send("POST /v1/orders", wire.authorizedJson(), padded(BODY_LIMIT_BYTES));
    expect(whole.status).toBe(201);
    const pieces = await wire.chunked(
      "POST /v1/orders",
      wire.authorizedJson(),
      asChunks(padded(BODY_LIMIT_BYTES)),
    );
    expect(pieces.status).toBe(201);
  });

  it("is the limit: one byte more is rejected with 413", async () => {
    const body = padded(BODY_LIMIT_BYTES + 1);
    expectRejection(
      await wire.send("POST /v1/orders", wire.authorizedJson(), body),
      "payload-too-large",
      "/v1/orders",
    );
    expectRejection(
      await wire.chunked("POST /v1/orders", wire.authorizedJson(), asChunks(body)),
      "payload-too-large",
      "/v1/orders",
    );
  });

  it("is the most by its announced length already: the rest is not waited for", async () => {
    const headers = { ...wire.authorizedJson(), "content-length": String(10 ** 12) };
    expectRejection(await wire.send("POST /v1/orders", headers), "payload-too-large", "/v1/orders");
  });

  it("counts bytes, not characters", async () => {
    const order = anOrder(wire.partner, { note: "é".repeat(BODY_LIMIT_BYTES / 2) });
    expectRejection(await wire.postOrder(order), "payload-too-large", "/v1/orders");
  });

  it("is the most also where the body does not matter", async () => {
    const { id } = await placeOrder(wire.partner);
    const path = `/v1/orders/${id}/cancel`;
    const body = "x".repeat(BODY_LIMIT_BYTES + 1);
    expectRejection(await wire.send(`POST ${path}`, wire.authorizedJson(), body), "payload-too-large", path);
    expect((await wire.partner.client.get(`/v1/orders/${id}`)).body.status).toBe("NEW");
    // Described for that route as well: the client of the tests checks it.
    await wire.partner.client.request("POST", path, { rawBody: body });
  });

  it("is reported only with a valid key", async () => {
    const body = "x".repeat(BODY_LIMIT_BYTES + 1);
    expectRejection(await wire.send("POST /v1/orders", {}, body), "unauthorized", "/v1/orders");
  });
});
