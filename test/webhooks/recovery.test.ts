import { describe, expect, it } from "vitest";
import { resendNextBatch } from "../../src/webhooks/resend/resend-deliveries.ts";
import { listConnectionsWithResends } from "../../src/webhooks/resend/resends-sql.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  readDeliveries,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
} from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** A partner with an endpoint made over the API, a receiver with a configurable response, and a dispatcher. */
async function start() {
  const test = await startServiceForTest({
    config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [1_000, 1_000] },
  });
  const partner = await createPartner(test);
  const answer = { status: 200 };
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = answer.status;
    response.end();
  });
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", { url: receiver.url });
  const dispatcher = startDispatcher(test);
  const connection = connectionKey(partner);
  return {
    test,
    partner,
    answer,
    receiver,
    path: `/v1/webhook-endpoints/${endpoint.id}`,
    send: () => sendDue(dispatcher),
    /** All that the worker does for recoveries now. */
    recover: async () => {
      while ((await resendNextBatch(test.context, connection)) > 0);
    },
    isOpen: async () =>
      (await listConnectionsWithResends(test.db, test.clock.now())).some(
        ({ connectionId }) => connectionId === connection.connectionId,
      ),
    statuses: async () => (await readDeliveries(test)).map(({ status }) => status),
  };
}

describe("resume", () => {
  it("sends pending deliveries and those that were added since, in order", async () => {
    const { test, partner, answer, receiver, path, send, recover, statuses } = await start();
    answer.status = 410;
    const order = await placeTestOrder(partner);
    await send();
    expect((await partner.client.get(path)).body.status).toBe("paused");
    for (const name of ["hold", "releaseHold"]) await transition(partner, order.id, name);
    const before = receiver.requests.length;
    answer.status = 200;
    await send();
    expect(receiver.requests).toHaveLength(before);
    expect((await partner.client.post(`${path}/resume`)).body.status).toBe("active");
    await recover();
    await send();
    expect(received(receiver).slice(before)).toEqual([
      { type: "order.created", sequence: 1, orderId: order.id },
      { type: "order.onHold", sequence: 2, orderId: order.id },
      { type: "order.onHoldReleased", sequence: 3, orderId: order.id },
    ]);
    expect(await statuses()).toEqual(["succeeded", "succeeded", "succeeded"]);
    test.clock.advance({ minutes: 2 });
    await recover();
    await send();
    expect(receiver.requests).toHaveLength(before + 3);
  });

  it("sends pending deliveries first: a transition after the resume does not overtake them", async () => {
    const { partner, answer, receiver, path, send } = await start();
    answer.status = 410;
    const order = await placeTestOrder(partner);
    await send();
    const before = receiver.requests.length;
    answer.status = 200;
    await partner.client.post(`${path}/resume`);
    await transition(partner, order.id, "hold");
    await send();
    expect(
      received(receiver)
        .slice(before)
        .map(({ sequence }) => sequence),
    ).toEqual([1, 2]);
  });

  it("finds with its second pass the deliveries of a transaction that saw the endpoint paused", async () => {
    const { test, partner, answer, receiver, path, send, recover, isOpen } = await start();
    answer.status = 410;
    await placeOrder(partner);
    await send();
    answer.status = 200;
    await partner.client.post(`${path}/resume`);
    await recover();
    await send();
    // As if its statement had read the endpoint before the resume, and committed after the first pass.
    const late = await placeOrder(partner);
    await test.db.runScript("delete from due_deliveries");
    await send();
    expect(received(receiver).map(({ orderId }) => orderId)).not.toContain(late.id);
    test.clock.advance({ seconds: 61 });
    await recover();
    await send();
    expect(received(receiver).map(({ orderId }) => orderId)).toContain(late.id);
    expect(await isOpen()).toBe(false);
  });
});

describe("recover", () => {
  it("sends deliveries again that failed since a time, and no older ones", async () => {
    const { test, partner, answer, receiver, path, send, recover, statuses } = await start();
    answer.status = 500;
    const giveUp = async () => {
      for (let count = 0; count < 10; count += 1) {
        await send();
        test.clock.advance({ seconds: 2 });
      }
    };
    await placeOrder(partner);
    await giveUp();
    const since = test.clock.now().toISOString();
    const [first, second] = [await placeOrder(partner), await placeOrder(partner)];
    await giveUp();
    expect(await statuses()).toEqual(["failed", "failed", "failed"]);
    const before = receiver.requests.length;
    answer.status = 200;
    expect((await partner.client.post(`${path}/recover`, { since })).status).toBe(202);
    await recover();
    await send();
    expect(
      received(receiver)
        .slice(before)
        .map(({ orderId }) => orderId)
        .sort(),
    ).toEqual([first.id, second.id].sort());
    expect(await statuses()).toEqual(["failed", "succeeded", "succeeded"]);
  });

  it("continues after a crash, and skips nothing over many pages (a known bug of recoveries that page by two columns)", async () => {
    const { test, partner, answer, path, send, recover, statuses } = await start();
    await placeOrder(partner);
    await send();
    // Copies, because thousands of requests would only take time.
    await test.db.runScript(`
      insert into deliveries
      select d.merchant_id, d.connection_id, (left(d.id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, d.endpoint_id, d.event_id,
             d.event_type, gen, d.sequence, gen, null, 'failed'
      from deliveries d cross join (select n, gen_random_uuid() as gen from generate_series(1, 2500) n) copies`);
    answer.status = 200;
    await partner.client.post(`${path}/recover`, {
      since: new Date(test.clock.now().getTime() - 60_000).toISOString(),
    });
    expect(await resendNextBatch(test.context, connectionKey(partner))).toBeGreaterThan(1);
    expect((await statuses()).filter((status) => status === "pending")).toHaveLength(1_000);
    await recover();
    await send();
    expect(new Set(await statuses())).toEqual(new Set(["succeeded"]));
  });

  it("is the trigger of the first delivery of an order, behind which the others follow by schedule", async () => {
    const { test, partner, answer, path, send, recover } = await start();
    const since = test.clock.now().toISOString();
    answer.status = 410;
    const order = await placeTestOrder(partner);
    await send();
    for (const name of ["hold", "releaseHold"]) await transition(partner, order.id, name);
    answer.status = 200;
    await partner.client.post(`${path}/recover`, { since });
    await recover();
    await send();
    const { data } = (await partner.client.get(`/v1/deliveries?orderId=${order.id}`)).body;
    const triggers = data.map(
      ({ attempts }: { attempts: { trigger: string }[] }) => attempts.at(-1)?.trigger,
    );
    expect(triggers.toReversed()).toEqual(["recovery", "schedule", "schedule"]);
  });

  it("resumes a paused endpoint as well, so one call is enough", async () => {
    const { test, partner, answer, path, send, recover, statuses } = await start();
    answer.status = 410;
    await placeOrder(partner);
    await send();
    answer.status = 200;
    await partner.client.post(`${path}/recover`, { since: test.clock.now().toISOString() });
    expect((await partner.client.get(path)).body.status).toBe("active");
    await recover();
    await send();
    expect(await statuses()).toEqual(["succeeded"]);
  });
});
