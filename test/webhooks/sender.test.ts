import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { SendResult } from "../../src/webhooks/delivery/exchange.ts";
import { createSender, type Sender } from "../../src/webhooks/delivery/sender.ts";
import { makeCertificate } from "../support/certificate.ts";
import { accept, type ReceiverHandler, startReceiver } from "../support/receivers.ts";

const toClose: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const closing of toClose.splice(0).reverse()) await closing.close();
});

function sender(settings: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const made = createSender({ timeoutMs: 20_000, allowPrivateNetworks: true, ...settings });
  toClose.push(made);
  return made;
}

async function receiver(...args: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...args);
  toClose.push(started);
  return started;
}

const post = (url: string, fields: object = {}) => ({
  url: new URL(url),
  headers: {},
  body: "{}",
  ...fields,
});

/** How a sender treats a receiver's response. */
async function outcomeOf(handler: ReceiverHandler): Promise<SendResult> {
  return sender().send(post((await receiver(handler)).url));
}

describe("a request", () => {
  it("is a POST of exactly the body's bytes, with the given headers and a user agent", async () => {
    const { url, requests } = await receiver();
    const body = '{"b":1, "a":"Grüße 🎁",\n"a":2}';
    await sender().send(post(`${url}/a%20b?c=d&e`, { body, headers: { "webhook-id": "evt_1" } }));
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: "POST", path: "/webhooks/a%20b?c=d&e", body });
    expect(requests[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": expect.stringMatching(/^PartnerOrders\/\d+\.\d+\.\d+$/),
      "webhook-id": "evt_1",
    });
    expect(requests[0]?.headers).not.toHaveProperty("transfer-encoding");
  });

  it("connects directly to the receiver, and ignores proxies in the environment", async () => {
    const { url, requests } = await receiver();
    const proxy = await receiver();
    const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"];
    for (const name of names) process.env[name] = proxy.url;
    try {
      expect(await sender().send(post(url))).toMatchObject({ responseStatus: 200 });
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect(requests).toHaveLength(1);
    expect(proxy.connectionCount()).toBe(0);
  });

  it.each([
    ["of another scheme", post("ftp://127.0.0.1/")],
    ["with a header that would forge another", post("http://127.0.0.1/", { headers: { a: "b\r\nc: d" } })],
  ])("that is %s ends as an outcome, not as an exception", async (_, request) => {
    expect(await sender().send(request)).toMatchObject({ responseStatus: null, error: "request not sent" });
  });
});

describe("a response", () => {
  it.each([200, 204, 304, 400, 410, 500])(
    "of %d is an outcome; what it means is not decided here",
    async (status) => {
      const outcome = await outcomeOf((_, response) => response.writeHead(status).end());
      expect(outcome).toEqual({
        durationMs: expect.any(Number),
        responseStatus: status,
        responseBody: "",
        error: null,
        retryAfter: null,
      });
      expect(Number.isInteger(outcome.durationMs)).toBe(true);
    },
  );

  it.each([
    [429, "120"],
    [503, "Sun, 01 Mar 2026 12:00:20 GMT"],
    [200, "soon"],
  ])("of %d returns its Retry-After unchanged", async (status, retryAfter) => {
    const outcome = await outcomeOf((_, response) =>
      response.writeHead(status, { "retry-after": retryAfter }).end(),
    );
    expect(outcome).toMatchObject({ responseStatus: status, retryAfter });
  });

  it.each([301, 302, 303, 307, 308])(
    "of %d is not followed: the receiver gets one request",
    async (status) => {
      const inside = await receiver();
      const { url, requests } = await receiver((_, response) =>
        response.writeHead(status, { location: inside.url }).end(),
      );
      expect(await sender().send(post(url))).toMatchObject({ responseStatus: status, error: null });
      expect(requests).toHaveLength(1);
      expect(inside.connectionCount()).toBe(0);
    },
  );
});

describe("the body of a response", () => {
  const bodyOf = async (body: string | Buffer) =>
    (await outcomeOf((_, response) => response.end(body))).responseBody;

  it("is returned up to its first 1024 bytes", async () => {
    expect(await bodyOf("thanks")).toBe("thanks");
    expect(await bodyOf("a".repeat(1_024))).toBe("a".repeat(1_024));
    expect(await bodyOf("a".repeat(1_025))).toBe("a".repeat(1_024));
  });

  it("is never cut inside a character", async () => {
    for (const character of ["ü", "€", "🎁"])
      for (const before of [1_021, 1_022, 1_023, 1_024]) {
        const left = 1_024 - before - Buffer.byteLength(character);
        const expected = "a".repeat(before) + (left >= 0 ? character + "b".repeat(left) : "");
        expect(await bodyOf(`${"a".repeat(before)}${character}${"b".repeat(50)}`)).toBe(expected);
      }
  });

  it("is assembled from the pieces it arrives in", async () => {
    const outcome = await outcomeOf((_, response) => {
      response.write("a".repeat(1_000));
      setImmediate(() => {
        response.write(Buffer.from("€".repeat(8)).subarray(0, 10));
        setImmediate(() => response.end(Buffer.from("€".repeat(8)).subarray(10)));
      });
    });
    expect(outcome.responseBody).toBe("a".repeat(1_000) + "€".repeat(8));
  });

  it("holds only what PostgreSQL can store", async () => {
    const received = (await bodyOf(Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0x62]))) ?? "";
    expect(received).toMatch(/^a\ufffd+b$/);
    expect(received.isWellFormed()).toBe(true);
    expect(await bodyOf(Buffer.alloc(2_000, 0x80))).toBe("\ufffd".repeat(1_024));
  });

  it("of more than 16 KiB is not read further, which is no failure: the status counts", async () => {
    const outcome = await outcomeOf((_, response) => response.end("a".repeat(1_000_000)));
    expect(outcome).toMatchObject({ responseStatus: 200, error: null, responseBody: "a".repeat(1_024) });
  });
});

describe("connections", () => {
  it("are reused: 50 consecutive requests need one connection (a connection per delivery, Outpost #1017)", async () => {
    const { url, connectionCount } = await receiver((_, response) => response.end("thanks"));
    const { send } = sender();
    for (let n = 0; n < 50; n += 1) expect(await send(post(url))).toMatchObject({ error: null });
    expect(connectionCount()).toBe(1);
  });

  it("are not kept open by an unread body (undici #4364)", async () => {
    const { url, connectionCount } = await receiver((_, response) => response.end("a".repeat(16_384)));
    const { send } = sender();
    for (let n = 0; n < 20; n += 1) expect(await send(post(url))).toMatchObject({ error: null });
    expect(connectionCount()).toBe(1);
  });

  it("are as many as concurrent requests: none waits for another of the same origin", async () => {
    const waiting: (() => void)[] = [];
    const { url, waitFor, connectionCount } = await receiver((_, response) => {
      waiting.push(() => response.end());
    });
    const { send } = sender();
    const sends = Array.from({ length: 40 }, () => send(post(url)));
    await waitFor(40); // Before the first response.
    for (const answer of waiting) answer();
    for (const outcome of await Promise.all(sends)) expect(outcome).toMatchObject({ responseStatus: 200 });
    expect(connectionCount()).toBe(40);
  });

  it("do not make a healthy receiver wait for one that never responds (convoy #1926)", async () => {
    const dead = await receiver(() => undefined);
    const { url } = await receiver();
    const { send } = sender();
    const stuck = Array.from({ length: 20 }, () => send(post(dead.url)));
    await dead.waitFor(20);
    expect(await send(post(url))).toMatchObject({ responseStatus: 200 });
    await dead.close();
    for (const outcome of await Promise.all(stuck))
      expect(outcome.error).toMatch(/^connection (closed|reset)$/);
    toClose.splice(toClose.indexOf(dead), 1);
  });

  it("are all closed for an origin that is not used any more", async () => {
    const receivers = await Promise.all(
      Array.from({ length: 10 }, () =>
        receiver((_, response) => {
          response.setHeader("connection", "close").end();
        }),
      ),
    );
    const { send, originCount } = sender();
    for (const { url } of receivers) expect(await send(post(url))).toMatchObject({ responseStatus: 200 });
    expect(await send(post("http://127.0.0.1:1/"))).toMatchObject({ error: "connection refused" });
    while (originCount() > 0) await new Promise(setImmediate); // The sockets' ends are on their way.
  });
});

describe("TLS", () => {
  it("accepts a trusted certificate for the host", async () => {
    const certificate = makeCertificate();
    const { url, connectionCount } = await receiver(accept, certificate);
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, certificate.cert]);
    try {
      const { send } = sender();
      for (let n = 0; n < 10; n += 1) expect(await send(post(url))).toMatchObject({ responseStatus: 200 });
      expect(connectionCount()).toBe(1);
      const other = sender({ lookup: async () => [{ address: "127.0.0.1", family: 4 }] });
      expect(await other.send(post(url.replace("127.0.0.1", "partner.example")))).toMatchObject({
        error: "TLS: certificate name mismatch",
      });
    } finally {
      setDefaultCACertificates(trusted);
    }
  });

  it.each([
    ["self-signed", makeCertificate(), "TLS: self-signed certificate"],
    ["expired", makeCertificate({ days: -1 }), /^TLS: (self-signed certificate|certificate expired)$/],
  ])("rejects a certificate that is %s, and sends nothing", async (_, certificate, error) => {
    const { url, requests } = await receiver(accept, certificate);
    expect(await sender().send(post(url))).toMatchObject({
      responseStatus: null,
      error: expect.stringMatching(error),
    });
    expect(requests).toHaveLength(0);
  });

  it("sends nothing to a server without TLS", async () => {
    const { url } = await receiver();
    expect(await sender().send(post(url.replace("http:", "https:")))).toMatchObject({
      error: "TLS: handshake failed",
    });
  });
});

describe("the end of a send from outside", () => {
  it("ends all requests in flight", async () => {
    const { url, waitFor } = await receiver(() => undefined);
    const { send, cancelAll } = sender();
    const outcomes = [send(post(url)), send(post(url))];
    await waitFor(2);
    cancelAll();
    for (const outcome of outcomes)
      expect(await outcome).toMatchObject({ responseStatus: null, error: "canceled" });
  });

  it("waits for requests in flight when the sender closes, and accepts no new ones", async () => {
    const answers: (() => void)[] = [];
    const { url, waitFor } = await receiver((_, response) => answers.push(() => response.end()));
    const { send, close } = createSender({ timeoutMs: 20_000, allowPrivateNetworks: true });
    const outcome = send(post(url));
    await waitFor(1);
    const closed = Promise.all([close(), close()]);
    expect(await send(post(url))).toMatchObject({ error: "canceled" });
    for (const answer of answers) answer();
    expect(await outcome).toMatchObject({ responseStatus: 200, error: null });
    await closed;
    expect(await send(post(url))).toMatchObject({ error: "canceled" });
  });
});
