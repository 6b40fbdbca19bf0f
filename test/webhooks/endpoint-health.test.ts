import { expect, it } from "vitest";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { answering } from "../support/receivers.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

/** A person with the role partner for a connection. */
async function addPartner(test: TestService, partner: Partner, email: string, state = "accepted_at") {
  const { merchantId, connectionId } = connectionKey(partner);
  const id = test.context.newId();
  await test.db.runScript(`
    insert into people (id, name, email, created_at, created_by_kind, accepted_at) values ('${id}', 'Dev', '${email}', now(), 'service', now());
    update people set ${state === "invited" ? "accepted_at = null" : `${state} = now()`} where id = '${id}';
    insert into person_grants (person_id, role, merchant_ids, connection_ids)
    values ('${id}', 'partner', '{${merchantId}}', '{${connectionId}}')`);
}

const readMails = ({ db }: TestService): Promise<{ recipient: string; subject: string; body: string }[]> =>
  db.query({
    name: "test-mails",
    text: "select recipient, subject, body from outgoing_mails order by id",
    values: [],
  });

it("an endpoint that fails for five days is paused; its merchant and its partner get three mails, and its events wait", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  await addPartner(test, partner, "dev@partner.example");
  await addPartner(test, partner, "gone@partner.example", "disabled_at");
  await addPartner(test, partner, "invited@partner.example", "invited");
  await addPartner(test, await createPartner(test), "other@partner.example");
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
  const mails = await readMails(test);
  const sentTo = (recipient: string) => mails.filter((mail) => mail.recipient === recipient);
  expect(mails).toHaveLength(6);
  expect(sentTo("m@example.com").map(({ subject }) => subject)).toEqual([
    expect.stringMatching(/a day/),
    expect.stringMatching(/three days/),
    expect.stringMatching(/paused/),
  ]);
  expect(sentTo("dev@partner.example").map(({ subject, body }) => ({ subject, body }))).toEqual(
    sentTo("m@example.com").map(({ subject, body }) => ({ subject, body })),
  );
  const seen = receiver.requests.length;
  await placeOrder(partner);
  test.clock.advance({ hours: 30 });
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(seen);
});

it("a partner that resumes an endpoint again and again gets ten mails a day", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  await addPartner(test, partner, "dev@partner.example");
  const receiver = await startReceiverForTest(answering(410));
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", { url: receiver.url });
  await placeOrder(partner);
  const dispatcher = startDispatcher(test);
  const pauseAgain = async () => {
    await sendDue(dispatcher);
    const { body } = await partner.client.post(`/v1/webhook-endpoints/${endpoint.id}/ping`);
    expect(body.code).toBe("endpoint-paused");
    await partner.client.post(`/v1/webhook-endpoints/${endpoint.id}/resume`);
    await partner.client.post(`/v1/webhook-endpoints/${endpoint.id}/ping`);
  };
  for (let count = 0; count < 11; count += 1) await pauseAgain();
  const mailed = async () =>
    (await readMails(test)).filter(({ recipient }) => recipient === "dev@partner.example").length;
  expect(await mailed()).toBe(10);
  test.clock.advance({ hours: 24, seconds: 1 });
  await pauseAgain();
  expect(await mailed()).toBe(11);
});
