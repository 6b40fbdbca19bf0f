import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { SendResult } from "../../src/webhooks/delivery/exchange.ts";
import { createSender } from "../../src/webhooks/delivery/sender.ts";
import { makeCertificate } from "../support/certificate.ts";
import { type RawReceiver, startRawReceiver, startReceiver } from "../support/receivers.ts";

const toClose: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const closing of toClose.splice(0).reverse()) await closing.close();
});

type Hostile = { receiver: RawReceiver; outcome: SendResult; isGone: Promise<void> };

/** What a sender makes of a receiver that does as it likes with the connection; also when that connection is gone. */
async function sendTo(behave: (socket: Socket) => void, timeoutMs = 1_000): Promise<Hostile> {
  let isGone: Promise<void> = Promise.resolve();
  const receiver = await startRawReceiver((socket) => {
    isGone = new Promise((resolve) => socket.once("close", () => resolve()));
    behave(socket);
  });
  const sender = createSender({ timeoutMs, allowPrivateNetworks: true });
  toClose.push(receiver, sender);
  const outcome = await sender.send({ url: new URL(receiver.url), headers: {}, body: '{"a":1}' });
  return { receiver, outcome, isGone };
}

/** Writes as fast as the other side takes it, until the connection is gone. */
function flood(socket: Socket, chunk: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

/** Writes a byte whenever the last one has left, fewer than the limit of a response, so that only the deadline can end it. */
function drip(socket: Socket, byte: string): void {
  let left = 16_000;
  const more = () => {
    left -= 1;
    if (!socket.destroyed && left > 0) socket.write(byte, () => setImmediate(more));
  };
  more();
}

/** Writes a text byte by byte, and then ends. */
function sendBytes(socket: Socket, text: string): void {
  socket.setNoDelay();
  const more = (at: number): void => {
    if (at === text.length) return void socket.end();
    socket.write(text.charAt(at), () => setImmediate(more, at + 1));
  };
  more(0);
}

const INTERIM = [
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 100\r\nserver: a\r\nb: c\r\n\r\n",
  "HTTP/1.1 100 Continue\r\n\r\n".repeat(5),
  "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 199 Own\r\n\r\n",
];

const LONG_MS = 20_000;

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const TOO_LARGE = { responseStatus: null, error: "response too large" };

/** Sends a beginning, and then the same without end: many times the first text with the second behind it. */
const endless =
  (beginning: string, repeated: string, end = "") =>
  (socket: Socket): void => {
    socket.write(beginning);
    flood(socket, `${repeated}${end}`.repeat(Math.ceil(10_000 / (repeated.length + end.length))));
  };

describe("the deadline", () => {
  it.each<[string, (socket: Socket) => void, number | null]>([
    ["a receiver that never responds", () => undefined, null],
    [
      "a status line that drips",
      (socket) => {
        socket.write("HTTP/1.1 200 ");
        drip(socket, "a");
      },
      null,
    ],
    [
      "headers that drip",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        socket.write("a: b");
      },
      null,
    ],
    [
      "a body that drips byte by byte (the client's own timeouts begin again with each)",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n");
        let left = 8_000; // Below what is read of any body, so that only the deadline can end it.
        const more = () => {
          left -= 1;
          if (!socket.destroyed && left > 0) socket.write("a", () => setImmediate(more));
        };
        more();
      },
      200,
    ],
    ["a body that never ends", (socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\nthanks"), 200],
  ])("ends %s", async (_, behave, responseStatus) => {
    const { outcome, isGone } = await sendTo(behave);
    expect(outcome).toMatchObject({ responseStatus, error: "timeout" });
    await isGone;
  });

  it("applies to each request: a later response does not count, nor reach the next request", async () => {
    const late: (() => void)[] = [];
    const receiver = await startReceiver((request, response) => {
      if (request.body === "late") late.push(() => response.writeHead(500).end());
      else response.end(request.body);
    });
    const sender = createSender({ timeoutMs: 2_000, allowPrivateNetworks: true });
    toClose.push(receiver, sender);
    const send = (body: string) => sender.send({ url: new URL(receiver.url), headers: {}, body });
    expect(await send("late")).toMatchObject({ responseStatus: null, error: "timeout" });
    for (const answer of late) answer();
    expect(await send("next")).toMatchObject({ responseStatus: 200, responseBody: "next", error: null });
  });

  it("includes the lookup of the name; after it, nothing is sent", async () => {
    const receiver = await startReceiver();
    let answer: (() => void) | undefined;
    const sender = createSender({
      timeoutMs: 100,
      allowPrivateNetworks: true,
      lookup: () =>
        new Promise((resolve) => {
          answer = () => resolve([{ address: "127.0.0.1", family: 4 }]);
        }),
    });
    toClose.push(receiver, sender);
    const url = receiver.url.replace("127.0.0.1", "partner.example");
    expect(await sender.send({ url: new URL(url), headers: {}, body: "{}" })).toMatchObject({
      error: "timeout",
    });
    answer?.();
    await new Promise(setImmediate);
    await sender.close();
    expect(receiver.requests).toHaveLength(0);
  });
});

describe("a receiver", () => {
  it.each<[string, (socket: Socket) => void, Partial<SendResult> | { error: unknown }]>([
    ["hangs up", (socket) => socket.end(), { responseStatus: null, error: "connection closed" }],
    ["resets", (socket) => socket.resetAndDestroy(), { responseStatus: null, error: "connection reset" }],
    [
      "resets after its headers",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", () => socket.resetAndDestroy());
      },
      { responseStatus: 200, responseBody: "abc", error: "connection reset" },
    ],
    [
      "hangs up in the middle of its body",
      (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
      { responseStatus: 200, responseBody: "abc", error: "connection closed" },
    ],
    [
      "ends its body by hanging up, as HTTP/1.0 does",
      (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nabc"),
      { responseStatus: 200, responseBody: "abc", error: null },
    ],
    [
      "sends huge headers",
      (socket) => socket.end(`HTTP/1.1 200 OK\r\na: ${"b".repeat(100_000)}\r\n\r\n`),
      { responseStatus: null, error: "response too large" },
    ],
    [
      "sends headers without end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        flood(socket, `a: ${"b".repeat(1_000)}\r\n`);
      },
      { responseStatus: null, error: "response too large" },
    ],
    [
      "sends interim answers without end",
      (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
      { responseStatus: null, error: "too many interim responses" },
    ],
    [
      "sends five interim answers, and then responds",
      (socket) => socket.end(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(5)}HTTP/1.1 200 OK\r\n\r\nabc`),
      { responseStatus: 200, responseBody: "abc", error: null },
    ],
    [
      "sends a sixth interim answer",
      (socket) => socket.end(`${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(6)}HTTP/1.1 200 OK\r\n\r\nabc`),
      { responseStatus: null, error: "too many interim responses" },
    ],
    ["sends short header fields without end", endless("HTTP/1.1 200 OK\r\n", "a: b\r\n"), TOO_LARGE],
    [
      "sends short trailers without end",
      endless(`${CHUNKED}0\r\n`, "a: b\r\n"),
      { ...TOO_LARGE, responseStatus: 200 },
    ],
    ["sends a status text without end", endless("HTTP/1.1 200 ", "a"), TOO_LARGE],
    ["sends a chunk size without end", endless(CHUNKED, "0"), { ...TOO_LARGE, responseStatus: 200 }],
    [
      "sends a chunk extension without end",
      endless(`${CHUNKED}1;a=`, "b"),
      { ...TOO_LARGE, responseStatus: 200 },
    ],
    [
      "sends many chunk extensions",
      endless(CHUNKED, `1;${"a".repeat(999)}\r\n`, "b\r\n"),
      { ...TOO_LARGE, responseStatus: 200 },
    ],
    [
      "does not speak HTTP",
      (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"),
      { responseStatus: null, error: "invalid HTTP response" },
    ],
    [
      "switches to a protocol that was not requested",
      (socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n"),
      { responseStatus: null, error: "invalid HTTP response" },
    ],
    ...INTERIM.map((interim): [string, (socket: Socket) => void, object] => [
      `sends ${JSON.stringify(interim)} unasked, and then responds`,
      (socket) => socket.end(`${interim}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc`),
      { responseStatus: 200, responseBody: "abc", error: null },
    ]),
    [
      "sends 100 Continue in single bytes",
      (socket) => sendBytes(socket, "HTTP/1.1 100 Continue\r\nserver: a\r\n\r\nHTTP/1.1 204 None\r\n\r\n"),
      { responseStatus: 204, error: null },
    ],
    [
      "sends 100 Continue without end",
      (socket) => flood(socket, "HTTP/1.1 100 Continue\r\n\r\n"),
      { responseStatus: null, error: "too many interim responses" },
    ],
    [
      "sends 100 Continue and nothing else",
      (socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\n"),
      { responseStatus: null, error: "connection closed" },
    ],
    [
      "sends the words of an interim response in its body",
      (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"),
      { responseStatus: 200, responseBody: "HTTP/1.1 100 Continue\r\n\r\n", error: null },
    ],
    [
      "sends 103 Early Hints, and then responds",
      (socket) =>
        socket.end(
          "HTTP/1.1 103 Early Hints\r\nretry-after: 5\r\n\r\nHTTP/1.1 202 OK\r\ncontent-length: 0\r\n\r\n",
        ),
      { responseStatus: 202, responseBody: "", error: null, retryAfter: null },
    ],
  ])("that %s", async (_, behave, expected) => {
    const { outcome, isGone } = await sendTo(behave, LONG_MS);
    expect(outcome).toMatchObject(expected);
    await isGone;
  });

  it.each([
    ["with a length", "content-length: 100000000000\r\n\r\n", "a".repeat(10_000)],
    ["in chunks", "transfer-encoding: chunked\r\n\r\n", `2710\r\n${"a".repeat(10_000)}\r\n`],
    ["without a length", "\r\n", "a".repeat(10_000)],
  ])("that sends without end, %s, is cut off after 16 KiB; its status counts", async (_, header, chunk) => {
    const { outcome, isGone } = await sendTo((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}`);
      flood(socket, chunk);
    }, LONG_MS);
    expect(outcome).toMatchObject({ responseStatus: 200, responseBody: "a".repeat(1_024), error: null });
    await isGone;
  });

  it("that sends a chunk extension without end over TLS is cut off as well", async () => {
    const trusted = getCACertificates();
    const certificate = makeCertificate();
    setDefaultCACertificates([...trusted, certificate.cert]);
    const server = createTlsServer(certificate, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => endless(`${CHUNKED}1;a=`, "b")(socket));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const sender = createSender({ timeoutMs: LONG_MS, allowPrivateNetworks: true });
    toClose.push(sender);
    try {
      const { port } = server.address() as AddressInfo; // It listens on a port, so this is no pipe's name.
      const outcome = await sender.send({
        url: new URL(`https://127.0.0.1:${port}/`),
        headers: {},
        body: "{}",
      });
      expect(outcome).toMatchObject({ ...TOO_LARGE, responseStatus: 200 });
    } finally {
      server.close();
      setDefaultCACertificates(trusted);
    }
  });

  it("sends long responses to one request after the other, each within the limit", async () => {
    const receiver = await startReceiver((_, response) => response.end("a".repeat(16_000)));
    const sender = createSender({ timeoutMs: LONG_MS, allowPrivateNetworks: true });
    toClose.push(receiver, sender);
    for (let n = 0; n < 30; n += 1)
      expect(await sender.send({ url: new URL(receiver.url), headers: {}, body: "{}" })).toMatchObject({
        responseStatus: 200,
        error: null,
      });
    expect(receiver.connectionCount()).toBe(1);
  });

  it("that responds twice does not give the response to the next request", async () => {
    const receiver = await startRawReceiver((socket) => {
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 418 No\r\ncontent-length: 0\r\n\r\n",
      );
    });
    const sender = createSender({ timeoutMs: LONG_MS, allowPrivateNetworks: true });
    toClose.push(receiver, sender);
    for (let n = 0; n < 3; n += 1)
      expect(await sender.send({ url: new URL(receiver.url), headers: {}, body: "{}" })).toMatchObject({
        responseStatus: 200,
      });
    expect(receiver.connectionCount()).toBe(3);
  });
});
