import { beforeEach, describe, expect, it } from "vitest";
import { Dispatcher } from "../../src/webhooks/delivery/dispatcher.ts";
import { createSender } from "../../src/webhooks/delivery/sender.ts";
import { type Partner, placeOrder } from "../support/builders.ts";
import { countStatements } from "../support/counted-statements.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { createSmallPartners } from "../support/many-orders.ts";
import { connectionUuid } from "../support/orders.ts";
import { isOnCitus } from "../support/plain-postgres.ts";
import type { Receiver } from "../support/receivers.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

// docs/design/deliveries.md, "One worker per endpoint": one claim is for many connections, each with the room that its
// endpoints have.

const CONNECTIONS = 50;

let test: TestService;
let receiver: Receiver;
beforeEach(async () => {
  test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  receiver = await startReceiverForTest();
});

/** Partners with an endpoint each, and two deliveries for it. */
async function createWaiting(count: number): Promise<Partner[]> {
  const partners = await createSmallPartners(test, count, 0);
  for (const partner of partners) await storeEndpoint(test, partner, { url: receiver.url });
  for (let order = 0; order < 2; order += 1)
    await Promise.all(partners.map((partner) => placeOrder(partner)));
  return partners;
}

/** Sends what is due with a worker whose statements count; returns their names. */
async function sendAndCount(): Promise<string[]> {
  const { context, names } = countStatements(test.context);
  const sender = createSender({ timeoutMs: 20_000, allowPrivateNetworks: true });
  const dispatcher = new Dispatcher(context, sender, { random: Math.random });
  await sendDue(dispatcher);
  await dispatcher.stop();
  await sender.close();
  return names;
}

const count = (names: readonly string[], name: string): number =>
  names.filter((each) => each === name).length;

describe("deliveries of many small connections", () => {
  it("are leased and claimed by one statement each", async () => {
    await createWaiting(CONNECTIONS);
    const names = await sendAndCount();
    expect(receiver.requests).toHaveLength(2 * CONNECTIONS);
    expect(await readAttempts(test)).toHaveLength(2 * CONNECTIONS);
    expect(count(names, "lease-endpoints")).toBe(1);
    // Citus locks the rows of one merchant at a time (docs/design/distribution.md, "Merchant by merchant").
    if (isOnCitus()) expect(count(names, "claim-deliveries-on-node")).toBe(CONNECTIONS);
    else expect(count(names, "claim-deliveries")).toBe(1);
  });

  it("are all sent, except those of a connection whose claim fails", async () => {
    const partners = await createWaiting(5);
    // Citus claims for it after the others, which have no second chance in the same run then.
    const unlucky = partners.toSorted((a, b) => (a.merchantId < b.merchantId ? -1 : 1)).at(-1);
    if (unlucky === undefined) throw new Error("There are five.");
    await test.db.runScript(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before update on due_deliveries for each row
        when (old.connection_id = '${connectionUuid(unlucky)}') execute function refuse();`);
    await sendAndCount();
    expect((await readDeliveries(test)).filter(({ status }) => status === "pending")).toHaveLength(2);
    await test.db.runScript("drop trigger refuse on due_deliveries");
    test.clock.advance({ minutes: 2 }); // Its endpoint may still be leased.
    await sendAndCount();
    expect(receiver.requests).toHaveLength(10);
  });

  it("are each sent once by two workers at the same time", async () => {
    await createWaiting(20);
    await Promise.all([sendAndCount(), sendAndCount()]);
    expect(receiver.requests).toHaveLength(40);
    expect(await readAttempts(test)).toHaveLength(40);
  });
});
