import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  LookupFailedError,
  NoSuchNameError,
  type Resolve,
} from "../../src/webhooks/delivery/public-lookup.ts";
import { createSender } from "../../src/webhooks/delivery/sender.ts";
import { endpointUrlError } from "../../src/webhooks/endpoints/endpoint-request.ts";
import { makeCertificate } from "../support/certificate.ts";
import { accept, type Receiver, startReceiver } from "../support/receivers.ts";

const PUBLIC = "93.184.216.34";
const NOT_PUBLIC = { responseStatus: null, responseBody: null, error: "address is not public" };
const NAME_NOT_PUBLIC = { ...NOT_PUBLIC, error: "name has no public address" };

/** Represents any server inside our own network. */
let inside: Receiver;
const toClose: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  inside = await startReceiver();
  toClose.push(inside);
});
afterEach(async () => {
  for (const closing of toClose.splice(0).reverse()) await closing.close();
});

const addresses = (...list: string[]) =>
  list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

function send(url: string, lookup?: Resolve) {
  const sender = createSender({
    timeoutMs: 20_000,
    allowPrivateNetworks: false,
    ...(lookup === undefined ? {} : { lookup }),
  });
  toClose.push(sender);
  return sender.send({ url: new URL(url), headers: {}, body: "{}" });
}

const insideAs = (host: string) => inside.url.replace("127.0.0.1", host);

describe("a connection", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "017700000001",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::1]",
    "[64:ff9b::7f00:1]",
    "0.0.0.0",
  ])("is not opened to %s: no look-up is called for an address (LibreChat #14606)", async (host) => {
    expect(await send(insideAs(host))).toMatchObject(NOT_PUBLIC);
    expect(inside.connectionCount()).toBe(0);
  });

  it("is not opened to localhost", async () => {
    expect(await send(insideAs("localhost"))).toMatchObject(NAME_NOT_PUBLIC);
    expect(inside.connectionCount()).toBe(0);
  });

  it.each([
    [["127.0.0.1"]],
    [["127.0.0.1", PUBLIC]],
    [[PUBLIC, "127.0.0.1"]],
    [["::ffff:127.0.0.1"]],
    [["fd00::1", PUBLIC]],
  ])("is not opened to a name with the addresses %j", async (list) => {
    const outcome = await send(insideAs("partner.example"), async () => addresses(...list));
    expect(outcome).toMatchObject(NAME_NOT_PUBLIC);
    expect(inside.connectionCount()).toBe(0);
  });

  it("is not opened to a name that was public at registration and is private now", async () => {
    const answers = [addresses(PUBLIC, "127.0.0.1"), addresses("127.0.0.1")];
    const changing: Resolve = async () => answers.shift() ?? [];
    const url = insideAs("partner.example");
    const httpsUrl = url.replace("http:", "https:");
    expect(endpointUrlError(httpsUrl, false)).toBeNull();
    for (const _ of answers.slice()) expect(await send(url, changing)).toMatchObject(NAME_NOT_PUBLIC);
    expect(inside.connectionCount()).toBe(0);
  });

  it("looks up a name's addresses once, and connects to these", async () => {
    let asked = 0;
    const outcome = await send(insideAs("partner.example"), async () => {
      asked += 1;
      return addresses(asked === 1 ? "127.0.0.1" : PUBLIC);
    });
    expect(outcome).toMatchObject(NAME_NOT_PUBLIC);
    expect(asked).toBe(1);
  });

  it.each([
    ["http", null],
    ["https", makeCertificate()],
  ])(
    "over %s that nevertheless leads to a private address is closed before a byte is sent",
    async (_, certificate) => {
      const target = await startReceiver(accept, certificate);
      // Public at the first lookup, private at the second: a checked list cannot be relied on.
      const cheating = () => {
        let reads = 0;
        return {
          family: 4,
          get address() {
            reads += 1;
            return reads === 1 ? PUBLIC : "127.0.0.1";
          },
        };
      };
      const url = target.url.replace("127.0.0.1", "partner.example");
      expect(await send(url, async () => [cheating()])).toMatchObject(NAME_NOT_PUBLIC);
      await target.close();
      expect(target.connectionCount()).toBe(1);
      expect(target.bytesReceived()).toBe(0);
    },
  );

  it("to a name that does not exist fails like one to a private name, so that a partner cannot find out which names exist", async () => {
    const failing: Resolve = async () => {
      throw new NoSuchNameError();
    };
    const url = insideAs("internal.partner.example");
    expect(await send(url, failing)).toMatchObject(NAME_NOT_PUBLIC);
    expect(await send(url, async () => [])).toMatchObject(NAME_NOT_PUBLIC);
    expect(await send(url, async () => addresses("10.0.0.1"))).toMatchObject(NAME_NOT_PUBLIC);
  });

  it("to a name that cannot be looked up fails with that error", async () => {
    const failing: Resolve = async () => {
      throw new LookupFailedError();
    };
    expect(await send(insideAs("partner.example"), failing)).toMatchObject({ error: "DNS lookup failed" });
  });
});
