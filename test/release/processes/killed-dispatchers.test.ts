import { expect, it, vi } from "vitest";
import { untilBlocked } from "../../support/blocked.ts";
import { anOrder, createPartner } from "../../support/builders.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../../support/dispatch.ts";
import { startProcess } from "../../support/processes.ts";
import { createDatabase, startServiceForTest, type TestService } from "../../support/test-service.ts";

const SECRET_KEY = Buffer.alloc(32, 1); // That of the tests' own services.

it("if a process is killed while it sends, the next one sends the rest in order and records the lost attempts", async () => {
  const databaseUrl = await createDatabase();
  const test = await startServiceForTest({ databaseUrl, config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const answers: (() => void)[] = [];
  let isAnswering = false;
  const receiver = await startReceiverForTest((_, response) => {
    if (isAnswering) response.end();
    else answers.push(() => response.end());
  });
  // Its retries and leases go by the machine's clock, so the endpoint must not be from the tests' time.
  test.clock.advance({ ms: Date.now() - test.clock.now().getTime() });
  await storeEndpoint(test, partner, { url: receiver.url, inFlightMax: 8 });
  const environment = {
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    WEBHOOK_SECRET_KEYS: SECRET_KEY.toString("base64"),
  };

  const first = await startProcess(databaseUrl, undefined, environment);
  const orders = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { body } = await first.post("/v1/orders", partner.key, anOrder(partner, { testMode: true }));
      await first.post(`/v1/test/orders/${body.id}/transitions`, partner.key, { transition: "hold" });
      return body.id as string;
    }),
  );
  await receiver.waitFor(2);
  for (const answer of answers.splice(0)) answer(); // These are stored, or lost with the process: both may be.
  await receiver.waitFor(3);
  await first.kill();

  // What a minute of waiting would do.
  await test.db.runScript(`
    update due_deliveries set leased_until = now() where leased_until is not null;
    update webhook_endpoint_states set leased_until = now()`);
  isAnswering = true;
  await startProcess(databaseUrl, undefined, environment);
  const arrived = () => new Set(receiver.requests.map(({ headers }) => headers["webhook-id"]));
  while (arrived().size < 2 * orders.length) await receiver.waitFor(receiver.requests.length + 1);

  for (const id of orders) {
    const sequences = receiver.requests
      .map(({ body }) => JSON.parse(body))
      .filter((event) => event.data.order.id === id)
      .map(({ sequence }) => sequence);
    expect(sequences[0]).toBe(1);
    expect(sequences.lastIndexOf(1)).toBeLessThan(sequences.indexOf(2));
  }
  const lost = (await readAttempts(test)).filter(({ error }) => error?.startsWith("outcome unknown"));
  expect(lost.length).toBeGreaterThanOrEqual(1);
});

it("outcomes are kept while the database is not available, and stored later; nothing is sent twice", async () => {
  const databaseUrl = await createDatabase();
  const proxy = await startDatabaseProxy(databaseUrl);
  const direct = await startServiceForTest({ databaseUrl, config: { webhookAllowPrivateNetworks: true } });
  const behind = await startServiceForTest({
    databaseUrl: proxy.url,
    config: { webhookAllowPrivateNetworks: true },
  });
  const partner = await createPartner(direct);
  const answers: (() => void)[] = [];
  const receiver = await startReceiverForTest((_, response) => answers.push(() => response.end()));
  await storeEndpoint(direct, partner, { url: receiver.url });
  for (let count = 0; count < 2; count += 1) await partner.client.post("/v1/orders", anOrder(partner));
  const dispatcher = startDispatcher(behind);
  await dispatcher.poll();
  await receiver.waitFor(2);
  await proxy.cut();
  for (const answer of answers) answer();
  await proxy.restore();
  await dispatcher.idle();
  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(2);
  expect((await readDeliveries(direct)).map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect(await readAttempts(direct)).toHaveLength(2);
  await proxy.close();
});

it("what a claim has stored is sent at once, and once, if its response was lost", async () => {
  const databaseUrl = await createDatabase();
  const proxy = await startDatabaseProxy(databaseUrl);
  const direct = await startServiceForTest({ databaseUrl, config: { webhookAllowPrivateNetworks: true } });
  const behind = await startServiceForTest({
    databaseUrl: proxy.url,
    config: { webhookAllowPrivateNetworks: true },
  });
  const partner = await createPartner(direct);
  const receiver = await startReceiverForTest((_, response) => response.end());
  await storeEndpoint(direct, partner, { url: receiver.url });
  for (let count = 0; count < 2; count += 1) await partner.client.post("/v1/orders", anOrder(partner));
  const dispatcher = startDispatcher(behind);

  // The claim waits for a lock. Its response is lost, and then its connection.
  await direct.db.withClient(async (client) => {
    await client.query("begin; lock table due_deliveries in share mode");
    await dispatcher.poll();
    await untilBlocked(direct, 1);
    proxy.loseResponses();
    await client.query("commit");
  });
  await vi.waitFor(async () => expect(await countClaimed(direct)).toBe(2));
  await proxy.cut();
  await dispatcher.idle();
  expect(receiver.requests).toHaveLength(0);
  await proxy.restore();

  await sendDue(dispatcher);
  expect(receiver.requests).toHaveLength(2);
  expect((await readDeliveries(direct)).map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  // Nothing was sent by the lost claim, so it is no attempt.
  expect((await readAttempts(direct)).map(({ error }) => error)).toEqual([null, null]);
  await proxy.close();
});

async function countClaimed({ db }: TestService): Promise<number | undefined> {
  const [row] = await db.query<{ count: number }>({
    name: "test-count-claimed",
    text: "select count(*)::integer as count from due_deliveries where claim_id is not null",
    values: [],
  });
  return row?.count;
}
