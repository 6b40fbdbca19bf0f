import { describe, expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { answering, type ReceiverHandler } from "../support/receivers.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

/** A receiver that responds only when the test permits it. */
async function startHangingReceiver() {
  const held: (() => void)[] = [];
  let hangs = true;
  const handler: ReceiverHandler = (_, response) => {
    if (hangs) held.push(() => response.end());
    else response.end();
  };
  const receiver = await startReceiverForTest(handler);
  return {
    ...receiver,
    /** Responds to all requests, and from now on at once. */
    respond() {
      hangs = false;
      for (const end of held.splice(0)) end();
    },
  };
}

async function storeEndpoints(test: TestService, partner: Partner, url: string, count: number) {
  for (let n = 0; n < count; n += 1)
    await storeEndpoint(test, partner, { url: `${url}/${n}`, inFlightMax: 100 });
}

describe("requests in flight", () => {
  it("of one partner leave room for another, and all are made in the end", async () => {
    const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const [attacker, victim] = [await createPartner(test), await createPartner(test)];
    const hanging = await startHangingReceiver();
    const receiver = await startReceiverForTest();
    await storeEndpoints(test, attacker, hanging.url, 40);
    await storeEndpoint(test, victim, { url: receiver.url });
    const dispatcher = startDispatcher(test, {}, 27);
    await placeOrder(attacker);
    await dispatcher.poll();
    await hanging.waitFor(24);
    await placeOrder(victim);
    await dispatcher.poll();
    await receiver.waitFor(1);
    expect(hanging.requests).toHaveLength(24);
    hanging.respond();
    await dispatcher.idle();
    expect(hanging.requests).toHaveLength(40);
  });

  it("that waited until their claims are released are claimed again at once", async () => {
    const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const partner = await createPartner(test);
    const hanging = await startHangingReceiver();
    await storeEndpoints(test, partner, hanging.url, 25);
    const dispatcher = startDispatcher(test, {}, 27);
    await placeOrder(partner);
    await dispatcher.poll();
    await hanging.waitFor(24);
    test.clock.advance({ seconds: 50 });
    await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-lock",
        text: "select from due_deliveries where merchant_id = $1 for update",
        values: [connectionKey(partner).merchantId],
      });
      await dispatcher.poll(); // Finds nothing due: the claim is released after it.
      await untilBlocked(test, 1);
    });
    hanging.respond();
    await hanging.waitFor(25);
    await dispatcher.idle();
    expect(await readAttempts(test)).toHaveLength(25);
  });
});

describe("requests to one host", () => {
  it("are limited over all its endpoints, leave room for another partner, and are all made in the end", async () => {
    const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
    const [attacker, victim] = [await createPartner(test), await createPartner(test)];
    const host = await startHangingReceiver();
    await storeEndpoints(test, attacker, host.url, 150);
    await storeEndpoint(test, victim, { url: `${host.url}/victim` });
    const dispatcher = startDispatcher(test);
    await placeOrder(attacker);
    await dispatcher.poll();
    await host.waitFor(113);
    await placeOrder(victim);
    await dispatcher.poll();
    await host.waitFor(114);
    expect(host.requests.at(-1)?.path).toBe("/webhooks/victim");
    expect(host.requests).toHaveLength(114);
    host.respond();
    await dispatcher.idle();
    expect(host.requests).toHaveLength(151);
  });
});

describe("a host that has never returned 2xx", () => {
  /** Private networks are allowed to the sender, so that a host can be here, and not to the rules. */
  const start = async (handler: ReceiverHandler, endpointCount: number) => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const receiver = await startReceiverForTest(handler);
    await storeEndpoints(test, partner, receiver.url, endpointCount);
    const startWorker = () => startDispatcher(test, { allowPrivateNetworks: true });
    return { test, partner, receiver, startWorker };
  };

  /** Otherwise the clock could pass the leases of attempts whose outcomes are on their way to the database. */
  const untilStored = async (test: TestService, attemptCount: number): Promise<void> => {
    while ((await readAttempts(test)).length < attemptCount) await new Promise(setImmediate);
  };

  it("gets at most 60 requests a minute over all its endpoints; a delivery that waits is not attempted", async () => {
    const { test, partner, receiver, startWorker } = await start(answering(404), 70);
    const dispatcher = startWorker();
    await placeOrder(partner);
    await dispatcher.poll();
    await receiver.waitFor(30);
    await untilStored(test, 30);
    test.clock.advance({ seconds: 30 });
    await dispatcher.poll();
    await receiver.waitFor(45);
    await dispatcher.stop();
    expect(receiver.requests).toHaveLength(45);
    const attempts = await readAttempts(test);
    expect(attempts).toHaveLength(45);
    expect(new Set(attempts.map(({ error }) => error))).toEqual(new Set(["HTTP 404"]));
    expect(new Set((await readDeliveries(test)).map(({ status }) => status))).toEqual(new Set(["pending"]));
  });

  it("keeps no claim longer than its lease, so that waiting is never an attempt", async () => {
    const { test, partner, receiver, startWorker } = await start(answering(404), 40);
    const dispatcher = startWorker();
    await placeOrder(partner);
    for (const count of [30, 40, 50, 60, 70, 80]) {
      await dispatcher.poll();
      await receiver.waitFor(count);
      await untilStored(test, count);
      test.clock.advance({ seconds: 20 });
    }
    await dispatcher.stop();
    const errors = (await readAttempts(test)).map(({ error }) => error);
    expect(new Set(errors)).toEqual(new Set(["HTTP 404"]));
  });

  it("is not limited any more once it returns 2xx, also not for a worker that starts later", async () => {
    let status = 200;
    const { partner, receiver, startWorker } = await start(
      (_, response) => response.writeHead(status).end(),
      70,
    );
    await placeOrder(partner);
    await sendDue(startWorker());
    expect(receiver.requests).toHaveLength(70);
    status = 404;
    await placeOrder(partner);
    await sendDue(startWorker());
    expect(receiver.requests).toHaveLength(140);
  });

  it("is limited again for an endpoint whose address was changed to it", async () => {
    const { test, partner, receiver, startWorker } = await start(answering(200), 40);
    const dispatcher = startWorker();
    await placeOrder(partner);
    await sendDue(dispatcher);
    test.clock.advance({ minutes: 2 }); // The ports of a name share its allowance.
    const victim = await startReceiverForTest(answering(404));
    await test.db.query({
      name: "test-change-urls",
      text: "update webhook_endpoints set url = $1",
      values: [victim.url],
    });
    await placeOrder(partner);
    await dispatcher.poll();
    await victim.waitFor(30);
    await dispatcher.stop();
    expect([receiver.requests.length, victim.requests.length]).toEqual([40, 30]);
  });
});
