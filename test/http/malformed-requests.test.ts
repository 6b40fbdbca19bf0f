import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { anAddress, anOrder } from "../support/builders.ts";
import { expectRejection, startWire, type Wire } from "../support/rejections.ts";
import { exchange, openConnection, requestText } from "../support/sockets.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

describe("what is not HTTP/1.1", () => {
  /** The request's path is unknown when its first line could not be read. */
  const unread = "/";
  const host = "host: 127.0.0.1\r\n";

  it.each<[name: string, bytes: string | Buffer, instance: string]>([
    [
      "header fields beyond 16 KiB",
      requestText("GET /v1/me HTTP/1.1", { filler: "x".repeat(20_000) }),
      "/v1/me",
    ],
    [
      "very many header fields",
      requestText("GET /v1/me HTTP/1.1", { filler: Array.from({ length: 5_000 }, () => "x") }),
      "/v1/me",
    ],
    ["a path beyond 16 KiB", `GET /v1/orders/${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, unread],
    ["version 1.2", `GET /v1/me HTTP/1.2\r\n${host}\r\n`, "/v1/me"],
    ["version 9.9", `GET /v1/me HTTP/9.9\r\n${host}\r\n`, "/v1/me"],
    ["version 2.0 with version 1.1 text", `GET /v1/me HTTP/2.0\r\n${host}\r\n`, "/v1/me"],
    ["version 1.2 behind an absolute target", `GET http://a/v1/me?x HTTP/1.2\r\n${host}\r\n`, "/v1/me"],
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
    ["a header line without a colon", `GET /v1/me HTTP/1.1\r\n${host}nothing\r\n\r\n`, "/v1/me"],
    ["a space before the colon", `GET /v1/me HTTP/1.1\r\nhost : a\r\n\r\n`, "/v1/me"],
    ["a folded header line", `GET /v1/me HTTP/1.1\r\n${host}x: 1\r\n  2\r\n\r\n`, "/v1/me"],
    ["a control character in a value", `GET /v1/me HTTP/1.1\r\n${host}x: a\x01b\r\n\r\n`, "/v1/me"],
    ["a zero byte in a value", `GET /v1/me HTTP/1.1\r\n${host}x: a\0b\r\n\r\n`, "/v1/me"],
    ["bare line feeds", "GET /v1/me HTTP/1.1\nhost: a\n\n", "/v1/me"],
    ["no Host field", "GET /v1/me HTTP/1.1\r\n\r\n", "/v1/me"],
    ["two Host fields", "GET /v1/me HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", "/v1/me"],
    [
      "a length that is no number",
      `POST /v1/orders HTTP/1.1\r\n${host}content-length: x\r\n\r\n`,
      "/v1/orders",
    ],
    ["a negative length", `POST /v1/orders HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`, "/v1/orders"],
    [
      "two lengths",
      `POST /v1/orders HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`,
      "/v1/orders",
    ],
    [
      "a length and chunks",
      `POST /v1/orders HTTP/1.1\r\n${host}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      "/v1/orders",
    ],
    [
      "an unknown transfer coding",
      `POST /v1/orders HTTP/1.1\r\n${host}transfer-encoding: gzip\r\n\r\nx`,
      "/v1/orders",
    ],
  ])("is malformed: %s", async (_name, bytes, instance) => {
    expectRejection(await wire.sendRaw(bytes), "malformed-request", instance);
  });

  it("has more than 1 000 header fields, however short", async () => {
    const fields = (count: number) => requestText("GET /v1/nothing HTTP/1.1", { x: Array(count).fill("") });
    expectRejection(await wire.sendRaw(fields(999)), "not-found", "/v1/nothing"); // And Host.
    const { document } = await wire.sendRaw(fields(1_000));
    expect(document).toMatchObject({
      code: "malformed-request",
      detail: "The request has too many header fields, or they are too large.",
    });
  });

  it("is malformed in the middle of a body", async () => {
    expectRejection(
      await wire.chunked("POST /v1/orders", wire.authorizedJson(), "not a size\r\n"),
      "malformed-request",
      "/v1/orders",
    );
  });

  it.each<[name: string, behind: string]>([
    ["a stray byte", "}"],
    ["a zero byte", "\0"],
    ["a word", "hello\r\n\r\n"],
    ["a word as of a method", "FOO /v1/bar HTTP/1.1\r\n\r\n"],
  ])("returns no response from a good request in the same packet: %s behind it", async (_name, behind) => {
    const order = JSON.stringify(anOrder(wire.partner));
    const headers = { ...wire.authorizedJson(), "content-length": String(Buffer.byteLength(order)) };
    const connection = await openConnection(wire.url);
    onTestFinished(connection.close);
    connection.send(requestText("POST /v1/orders HTTP/1.1", headers) + order + behind);
    const first = await connection.answer();
    expect(first.status).toBe(201);
    expect((await connection.answer()).status).toBe(400);
    await connection.closed();
  });

  it("is a body whose length counts characters instead of bytes: nothing is created, and nothing is reported as missing", async () => {
    const order = JSON.stringify(anOrder(wire.partner, { shippingAddress: anAddress({ city: "Zürich" }) }));
    const headers = { ...wire.authorizedJson(), "content-length": String(order.length) };
    const { status } = await wire.sendRaw(requestText("POST /v1/orders HTTP/1.1", headers) + order);
    expect(status).toBe(400);
  });

  it("is closed, even if the client never closes its side", async () => {
    const { hostname, port } = new URL(wire.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    socket.write("GARBAGE\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    const connections = () =>
      new Promise<number>((resolve) => wire.app.server.getConnections((_error, count) => resolve(count)));
    await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 20_000, interval: 100 });
  });

  it("does not take HTTP/1.0 for it", async () => {
    const bytes = `GET /v1/me HTTP/1.0\r\nauthorization: Bearer ${wire.partner.key}\r\n\r\n`;
    expect((await exchange(wire.url, bytes)).status).toBe(200);
  });

  it("does not take any value of it for an expectation (RFC 9110, section 10.1.1)", async () => {
    for (const expectation of ["100-continue", "something", "100-continue, something"]) {
      const headers = { ...wire.authorizedJson(), expect: expectation };
      expectRejection(await wire.send("POST /v1/orders", headers, "{}"), "validation-failed", "/v1/orders");
    }
  });
});
