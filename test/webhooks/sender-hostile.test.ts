import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createSender, type SendResult } from "../../src/webhooks/dispatch/send/sender.ts";
import { type RawReceiver, startRawReceiver, startReceiver } from "../support/receivers.ts";

const toClose: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const closing of toClose.splice(0).reverse()) await closing.close();
});

type Hostile = { receiver: RawReceiver; outcome: SendResult; isGone: Promise<void> };

/** What a sender makes of a receiver that does as it likes with the connection; also when that connection is gone. */
async function sendTo(behave: (socket: Socket) => void, timeoutMs = 300): Promise<Hostile> {
  let isGone: Promise<void> = Promise.resolve();
  const receiver = await startRawReceiver((socket) => {
    isGone = new Promise((resolve) => socket.once("close", () => resolve()));
    behave(socket);
  });
  const sender = createSender({ timeoutMs, allowPrivateNetworks: true });
  toClose.push(receiver, sender);
  const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{"a":1}' });
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

/** Writes a byte whenever the last one has left. */
function drip(socket: Socket, byte: string): void {
  const more = () => {
    if (!socket.destroyed) socket.write(byte, () => setImmediate(more));
  };
  more();
}

const LONG_MS = 20_000;

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
    [
      "interim answers without end",
      (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
      null,
    ],
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
    const sender = createSender({ timeoutMs: 300, allowPrivateNetworks: true });
    toClose.push(receiver, sender);
    const send = (body: string) => sender.send({ url: receiver.url, headers: {}, body });
    expect(await send("late")).toMatchObject({ responseStatus: null, error: "timeout" });
    for (const answer of late) answer();
    expect(await send("next")).toMatchObject({ responseStatus: 200, responseBody: "next", error: null });
  });

  it("covers the look-up of the name, and what comes too late is not sent", async () => {
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
    expect(await sender.send({ url, headers: {}, body: "{}" })).toMatchObject({ error: "timeout" });
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
      { responseStatus: null, error: "headers too large" },
    ],
    [
      "sends headers without end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        flood(socket, `a: ${"b".repeat(1_000)}\r\n`);
      },
      { responseStatus: null, error: "headers too large" },
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
    [
      "sends 100 Continue, though it was not requested",
      (socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
      { responseStatus: null, error: "invalid HTTP response" },
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
  ])("that floods without end, %s, is left after 16 KiB; its status counts", async (_, header, chunk) => {
    const { outcome, isGone } = await sendTo((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}`);
      flood(socket, chunk);
    }, LONG_MS);
    expect(outcome).toMatchObject({ responseStatus: 200, responseBody: "a".repeat(1_024), error: null });
    await isGone;
  });

  it("that responds twice does not answer the next request", async () => {
    const receiver = await startRawReceiver((socket) => {
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 418 No\r\ncontent-length: 0\r\n\r\n",
      );
    });
    const sender = createSender({ timeoutMs: LONG_MS, allowPrivateNetworks: true });
    toClose.push(receiver, sender);
    for (let n = 0; n < 3; n += 1)
      expect(await sender.send({ url: receiver.url, headers: {}, body: "{}" })).toMatchObject({
        responseStatus: 200,
      });
    expect(receiver.connectionCount()).toBe(3);
  });
});
