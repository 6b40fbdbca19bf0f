import { expect, it } from "vitest";
import { warn } from "../../src/webhooks/endpoints/pause.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest, storeEndpoint } from "../support/dispatch.ts";
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

it("an endpoint that fails for five days is paused; its merchant, its partner and the address that it names get three mails, and its events wait", async () => {
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
  const settings = { url: receiver.url, alertEmail: "oncall@bücher.example" };
  const { body: endpoint } = await partner.client.post("/v1/webhook-endpoints", settings);
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
  expect(mails).toHaveLength(9);
  expect(sentTo("m@example.com").map(({ subject }) => subject)).toEqual([
    expect.stringMatching(/a day/),
    expect.stringMatching(/three days/),
    expect.stringMatching(/paused/),
  ]);
  expect(sentTo("dev@partner.example").map(({ subject, body }) => ({ subject, body }))).toEqual(
    sentTo("m@example.com").map(({ subject, body }) => ({ subject, body })),
  );
  const alerts = sentTo("oncall@bücher.example");
  expect(alerts.map(({ subject }) => subject)).toEqual([
    `A webhook endpoint has been failing for a day: ${endpoint.id}`,
    `A webhook endpoint has been failing for three days: ${endpoint.id}`,
    `A webhook endpoint was paused: ${endpoint.id}`,
  ]);
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

/** Warns of a pause of one endpoint for each address. Returns how many mails there are. */
async function alert(
  test: TestService,
  partner: Partner,
  { addresses, mode = "live" }: { addresses: string[]; mode?: "live" | "test" },
) {
  for (const alertEmail of addresses) {
    const { id } = await storeEndpoint(test, partner, { url: "http://127.0.0.1:9/", mode, alertEmail });
    await warnOf(test, { ...connectionKey(partner), id });
  }
}

const warnOf = async (
  test: TestService,
  endpoint: { merchantId: string; connectionId: string; id: string },
) => {
  const now = test.clock.now();
  const health = { consecutiveFailures: 1, failingSince: now, lastFailureAt: now, lastError: "HTTP 410" };
  const times = { lastSuccessAt: now, succeededAt: null, backoffUntil: null, warningsSent: 3 };
  const report = { endpoint, health: { ...health, ...times }, pause: "gone" as const, warning: 3 as const };
  await test.db.transaction((tx) => warn(tx, test.context, report, 3, now));
};

const named = (count: number) => Array.from({ length: count }, (_, index) => `${index}@stranger.example`);

it("addresses that endpoints name get few mails: of an endpoint, of a connection, and one address of a merchant", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const alerts = async () =>
    (await readMails(test)).filter(({ recipient }) => recipient !== "m@example.com").length;
  const [partner, other] = [await createPartner(test), await createPartner(test)];
  await alert(test, partner, { addresses: named(3), mode: "test" });
  expect(await alerts()).toBe(0);
  await alert(test, other, {
    addresses: Array(11).fill("One@stranger.example").concat("one@STRANGER.example"),
  });
  expect(await alerts()).toBe(10);
  await alert(test, partner, { addresses: named(22) });
  expect(await alerts()).toBe(30);
  const quiet = await createPartner(test);
  const { id } = await storeEndpoint(test, quiet, { url: "http://127.0.0.1:9/", alertEmail: "a@b.example" });
  for (let count = 0; count < 4; count += 1) await warnOf(test, { ...connectionKey(quiet), id });
  expect(await alerts()).toBe(33);
  test.clock.advance({ hours: 24, seconds: 1 });
  await alert(test, partner, { addresses: ["m@example.com", "M@example.com", "late@stranger.example"] });
  expect(await alerts()).toBe(34);
});
