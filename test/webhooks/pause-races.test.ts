import { expect, it } from "vitest";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** A receiver that holds every request until the test responds to it. */
async function start() {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const gone: (() => void)[] = [];
  const receiver = await startReceiverForTest((_, response) => {
    gone.push(() => {
      response.statusCode = 410;
      response.end();
    });
  });
  const { body } = await partner.client.post("/v1/webhook-endpoints", { url: receiver.url });
  for (let count = 0; count < 2; count += 1) await placeOrder(partner);
  const dispatcher = startDispatcher(test);
  await dispatcher.poll();
  await receiver.waitFor(2);
  return { test, partner, dispatcher, gone, path: `/v1/webhook-endpoints/${body.id}` };
}

it("two requests that get 410 pause an endpoint once, and its merchant gets one mail", async () => {
  const { test, dispatcher, gone } = await start();
  for (const answer of gone) answer();
  await dispatcher.idle();
  const mails = await test.db.query({
    name: "test-mails",
    text: "select id from outgoing_mails",
    values: [],
  });
  expect(mails).toHaveLength(1);
});

it("a resume is not undone by the late 410 of a request from before it", async () => {
  const { partner, dispatcher, gone, path, test } = await start();
  gone[0]?.();
  const status = async () => (await partner.client.get(path)).body.status;
  while ((await status()) !== "paused");
  await partner.client.post(`${path}/resume`);
  gone[1]?.();
  await dispatcher.idle();
  expect(await status()).toBe("active");
  const attempts = await test.db.query({
    name: "test-attempts",
    text: "select id from attempts",
    values: [],
  });
  expect(attempts).toHaveLength(2);
});

it("the feed hides a test order from the moment of its erasure, before any worker has run", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  await placeTestOrder(partner);
  const created = async () =>
    (await partner.client.get("/v1/events?type=order.created")).body.data as { id: string }[];
  const [event] = await created();
  test.clock.advance({ hours: 2 });
  expect(await created()).toEqual([]);
  expect((await partner.client.get(`/v1/events/${event?.id}`)).status).toBe(404);
  await sendDue(startDispatcher(test));
});
