import { describe, expect, it } from "vitest";
import type { Resolve } from "../../src/webhooks/delivery/public-lookup.ts";
import { endpointUrlError } from "../../src/webhooks/endpoints/endpoint-request.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { startServiceForTest } from "../support/test-service.ts";

// Each kind of address is in public-address.test.ts, each trick of a connection in sender-addresses.test.ts. This file
// tests the whole way, with the default of WEBHOOK_ALLOW_PRIVATE_NETWORKS.

const NOT_PUBLIC = expect.objectContaining({ responseStatus: null, error: "address is not public" });
const NAME_NOT_PUBLIC = expect.objectContaining({
  responseStatus: null,
  error: "name has no public address",
});

/** A partner whose endpoint leads to our own network; what is sent there, and what is reported. */
async function start(urlFor: (insideUrl: string) => string) {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  const inside = await startReceiverForTest();
  const url = urlFor(inside.url);
  await storeEndpoint(test, partner, { url });
  return { test, partner, inside, url };
}

const asName = (url: string) => url.replace("127.0.0.1", "partner.example");

describe("an endpoint whose name has changed its address since it was registered", () => {
  it("receives nothing at its private address; each attempt is recorded as failed, and the schedule continues", async () => {
    const { test, partner, inside, url } = await start(asName);
    const answers = ["127.0.0.1", "10.0.0.1", "93.184.216.34"];
    const asked: string[] = [];
    const resolve: Resolve = async (name) => {
      asked.push(name);
      return [{ address: answers.shift() ?? "127.0.0.1", family: 4 }];
    };
    const registered = url.replace("http:", "https:");
    expect(endpointUrlError(registered, false)).toBeNull();
    await placeOrder(partner);
    const dispatcher = startDispatcher(test, { lookup: resolve });
    await sendDue(dispatcher);
    expect(await readAttempts(test)).toEqual([NAME_NOT_PUBLIC]);
    test.clock.advance({ seconds: 6 });
    await sendDue(dispatcher);
    expect(await readAttempts(test)).toEqual([NAME_NOT_PUBLIC, NAME_NOT_PUBLIC]);
    expect(asked).toEqual(Array(2).fill("partner.example"));
    expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["pending"]);
    expect(inside.connectionCount()).toBe(0);
  });

  it("receives nothing either if only one of several addresses is private", async () => {
    const { test, partner, inside } = await start(asName);
    await placeOrder(partner);
    const lookup: Resolve = async () =>
      ["93.184.216.34", "127.0.0.1"].map((address) => ({ address, family: 4 }));
    await sendDue(startDispatcher(test, { lookup }));
    expect(await readAttempts(test)).toEqual([NAME_NOT_PUBLIC]);
    expect(inside.connectionCount()).toBe(0);
  });
});

describe("an endpoint that was stored while private networks were allowed", () => {
  it.each([
    ["127.0.0.1", NOT_PUBLIC],
    ["localhost", NAME_NOT_PUBLIC],
    ["2130706433", NOT_PUBLIC],
    ["[::ffff:127.0.0.1]", NOT_PUBLIC],
  ])("receives nothing at %s once they are not allowed", async (host, attempt) => {
    const { test, partner, inside } = await start((url) => url.replace("127.0.0.1", host));
    await placeOrder(partner);
    await sendDue(startDispatcher(test));
    expect(await readAttempts(test)).toEqual([attempt]);
    expect(inside.connectionCount()).toBe(0);
  });
});

describe("a redirect to our own network", () => {
  it.each([301, 302, 303, 307, 308])("of %d is a failure, and is not followed", async (status) => {
    const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const partner = await createPartner(test);
    const inside = await startReceiverForTest();
    const outside = await startReceiverForTest((_, response) => {
      response.writeHead(status, { location: inside.url }).end();
    });
    await storeEndpoint(test, partner, { url: outside.url });
    await placeOrder(partner);
    await sendDue(startDispatcher(test));
    expect(await readAttempts(test)).toEqual([
      expect.objectContaining({ responseStatus: status, error: `HTTP ${status}` }),
    ]);
    expect(inside.connectionCount()).toBe(0);
  });
});
