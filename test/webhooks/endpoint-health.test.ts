import { expect, it } from "vitest";
import { createPartner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("an endpoint that fails for five days is paused; its merchant gets three mails, and its events wait", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = 500;
    response.end();
  });
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", { url: receiver.url });
  const dispatcher = startDispatcher(test);
  for (let hour = 0; hour < 130; hour += 1) {
    if (hour % 6 === 0) await placeOrder(partner);
    await sendDue(dispatcher);
    test.clock.advance({ hours: 1 });
  }
  const { body: paused } = await partner.client.get(`/v1/webhook-endpoints/${endpoint.id}`);
  expect(paused).toMatchObject({ status: "paused", pauseReason: "failing" });
  const mails = await test.db.query<{ recipient: string; subject: string }>({
    name: "test-mails",
    text: "select recipient, subject from outgoing_mails order by id",
    values: [],
  });
  expect(mails.map(({ recipient }) => recipient)).toEqual(Array(3).fill("m@example.com"));
  expect(mails[2]?.subject).toMatch(/paused/);
  const seen = receiver.requests.length;
  await placeOrder(partner);
  test.clock.advance({ hours: 30 });
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(seen);
});
