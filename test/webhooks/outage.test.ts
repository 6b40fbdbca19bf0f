import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { readDeliveries, sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { endpointPath, readRows } from "../support/webhooks.ts";

const HOUR_MS = 3_600_000;
const LIVE_RETRY_MS = [
  5_000,
  30_000,
  120_000,
  600_000,
  HOUR_MS / 2,
  ...[1, 2, 4, 8, 12, 16, 24].map((h) => h * HOUR_MS),
];

type Arrived = { orderId: string; sequence: number };

/** A server of a partner that is stopped, and started again at the same address. */
async function startStoppable() {
  const arrived: Arrived[] = [];
  let [port, inFlight, inFlightMost] = [0, 0, 0];
  let server: Server | null = null;
  async function start(): Promise<void> {
    server = createServer(async (request, response) => {
      inFlight += 1;
      inFlightMost = Math.max(inFlightMost, inFlight);
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8"));
      arrived.push({ orderId: body.data.order.id, sequence: body.sequence });
      await new Promise(setImmediate);
      inFlight -= 1;
      response.writeHead(204).end();
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port; // It listens on TCP.
  }
  function stop(): void {
    server?.close();
    server?.closeAllConnections();
  }
  await start();
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${port}/`, arrived, start, stop, inFlightMost: () => inFlightMost };
}

async function start({ orders = 4, maxInFlight = 8 } = {}) {
  const test = await startServiceForTest({
    config: {
      webhookAllowPrivateNetworks: true,
      testOrderLifetimeMs: 24 * HOUR_MS,
      webhookTestRetryMs: LIVE_RETRY_MS, // Test orders have events quickly, and are retried like live ones here.
    },
  });
  const partner = await createPartner(test);
  const receiver = await startStoppable();
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", {
    url: receiver.url,
    maxInFlight,
  });
  const dispatcher = startDispatcher(test);
  const post = (operation: string, body?: object) =>
    partner.client.post(endpointPath(endpoint.id, operation), body);
  return {
    test,
    partner,
    receiver,
    dispatcher,
    endpointId: endpoint.id as string,
    resume: () => post("resume"),
    recover: () => post("recover", { since: endpoint.createdAt }),
    /** The receiver is down; orders with three events each are placed, and attempts fail for hours. */
    outage: async (hours = 8) => {
      receiver.stop();
      for (let count = 0; count < orders; count += 1) {
        const { id } = await placeTestOrder(partner);
        for (const name of ["hold", "releaseHold"]) await transition(partner, id, name);
      }
      for (let minutes = 0; minutes < hours * 60; minutes += 3) {
        await sendDue(dispatcher);
        test.clock.advance({ minutes: 3 });
      }
    },
    /** What the worker does within a second. */
    work: async () => {
      await runJob(test, "resend-deliveries");
      await sendDue(dispatcher);
    },
    statuses: async () => new Set((await readDeliveries(test)).map(({ status }) => status)),
    waitingCount: async () =>
      (await readRows(test, "due_deliveries", endpoint.id)).filter(
        ({ due_at }) => (due_at as Date) > test.clock.now(), // The column is a time.
      ).length,
  };
}

/** What arrived of each order, in the order of arrival. */
const sequences = (arrived: readonly Arrived[]): number[][] =>
  [...Map.groupBy(arrived, ({ orderId }) => orderId).values()].map((events) =>
    events.map(({ sequence }) => sequence),
  );

describe("after an outage of eight hours", () => {
  it.each(["recover", "resume"] as const)(
    "%s sends everything at once, the events of each order in their order",
    async (operation) => {
      const { test, receiver, outage, work, statuses, waitingCount, ...requests } = await start();
      await outage();
      expect(receiver.arrived).toEqual([]);
      await receiver.start();
      const asked = test.clock.now().getTime();
      const waiting = await waitingCount(); // One of them may be due already.
      expect(waiting).toBeGreaterThan(0);
      const { body } = await requests[operation]();
      // One that was due in this moment is counted or not.
      expect([waiting, waiting + 1]).toContain(body.deliveryCount);
      await work();
      expect(sequences(receiver.arrived)).toEqual(Array(4).fill([1, 2, 3]));
      expect(await statuses()).toEqual(new Set(["succeeded"]));
      expect(test.clock.now().getTime() - asked).toBeLessThan(60_000);
    },
  );

  it("the first success sends everything else as well", async () => {
    const { test, partner, receiver, dispatcher, outage, work, waitingCount } = await start();
    await outage();
    await receiver.start();
    expect(await waitingCount()).toBeGreaterThan(1);
    const { id } = await placeOrder(partner);
    test.clock.advance({ minutes: 5 }); // The longest backoff.
    await sendDue(dispatcher);
    await work();
    await work();
    expect(sequences(receiver.arrived.filter(({ orderId }) => orderId !== id))).toEqual(
      Array(4).fill([1, 2, 3]),
    );
    expect(await waitingCount()).toBe(0);
  });

  it("no more is sent at once than the endpoint permits", async () => {
    const { receiver, outage, recover, work } = await start({ orders: 12, maxInFlight: 2 });
    await outage(1);
    await receiver.start();
    await recover();
    await work();
    expect(receiver.arrived).toHaveLength(36);
    expect(receiver.inFlightMost()).toBe(2);
  });

  it("the order holds for two workers, of which one ends with what it has claimed", async () => {
    const { test, receiver, dispatcher, outage, recover, endpointId } = await start();
    await outage();
    await receiver.start();
    await recover();
    const other = startDispatcher(test);
    await Promise.all([runJob(test, "resend-deliveries"), runJob(test, "resend-deliveries")]);
    // As a worker leaves it that ends in the middle of an attempt.
    await test.db.query({
      name: "test-claim-of-a-dead-worker",
      text: `
        update due_deliveries
        set claim_id = $2, claimed_at = $1, leased_until = $1::timestamptz + interval '1 minute'
        where delivery_id = (select delivery_id from due_deliveries order by stream_id limit 1)`,
      values: [test.clock.now(), test.context.newId()],
    });
    for (let seconds = 0; seconds <= 70; seconds += 10) {
      await Promise.all([sendDue(dispatcher), sendDue(other)]);
      test.clock.advance({ seconds: 10 });
    }
    expect(sequences(receiver.arrived)).toEqual(Array(4).fill([1, 2, 3]));
    expect(await readRows(test, "due_deliveries", endpointId)).toEqual([]);
  });

  it("a request that is repeated counts nothing twice, whether a worker has begun or not", async () => {
    const { partner, outage, recover, resume, work, waitingCount } = await start();
    await outage();
    const waiting = await waitingCount();
    const counts = [];
    for (const request of [recover, recover, resume]) counts.push((await request()).body.deliveryCount);
    expect(counts).toEqual([waiting, 0, 0]);
    await work(); // The receiver is still down, and the first attempt begins the next backoff.
    const { body } = await partner.client.get("/v1/deliveries?hasFailedAttempts=true&status=pending");
    expect(body.data.length).toBeGreaterThan(0);
    expect((await recover()).body.deliveryCount).toBe(4);
  });
});

it("an attempt that began before the request is no evidence: its delivery is due at once, and no backoff begins", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  let respond = (): void => undefined;
  const statuses = Array<number>(10).fill(500);
  const receiver = await startReceiverForTest((_, response) => {
    const finish = () => void response.writeHead(statuses.shift() ?? 204).end();
    if (statuses.length === 1) respond = finish;
    else finish();
  });
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", { url: receiver.url });
  const dispatcher = startDispatcher(test);
  await placeOrder(partner);
  while (statuses.length > 1) {
    await sendDue(dispatcher);
    test.clock.advance({ hours: 10 });
  }
  const seen = receiver.requests.length;
  await dispatcher.poll();
  await receiver.waitFor(seen + 1);
  test.clock.advance({ ms: 1 });
  await partner.client.post(endpointPath(endpoint.id, "resume"));
  respond();
  await dispatcher.idle();
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(seen + 2);
  expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["succeeded"]);
});

it("the list of resends shows a recovery with its progress, and it cannot be canceled", async () => {
  const { test, partner, outage, recover, work, endpointId, receiver } = await start({ orders: 2 });
  await outage(1);
  await test.db.runScript("update deliveries set status = 'failed'; delete from due_deliveries");
  await receiver.start();
  const resends = `/api/connections/${partner.connectionId}/resends`;
  expect((await recover()).body.deliveryCount).toBe(6);
  const running = { inOrder: true, endpointId, deliveryStatus: "failed", status: "running" };
  const [resend] = (await test.backOffice.get(resends)).body.data;
  expect(resend).toMatchObject({ ...running, total: 6, returnedCount: 0, readUntil: null });
  expect((await test.backOffice.post(`${resends}/${resend.id}/cancel`)).body).toEqual(resend);
  expect((await recover()).body.deliveryCount).toBe(0);
  await work();
  expect((await test.backOffice.get(`${resends}/${resend.id}`)).body).toMatchObject({
    ...running,
    status: "finished",
    total: 6,
    returnedCount: 6,
    skippedCount: 0,
    readUntil: test.clock.now().toISOString(),
  });
  expect(sequences(receiver.arrived)).toEqual(Array(2).fill([1, 2, 3]));
});
