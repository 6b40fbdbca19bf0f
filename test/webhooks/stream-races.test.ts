import { expect, it } from "vitest";
import { PARTNER } from "../../src/lifecycle/applied-transition.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import {
  readDeliveries,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { applyToOrder, connectionKey } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

it("an event that is written while the outcome of the previous one is stored is sent next, and the previous one not again", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest();
  await storeEndpoint(test, partner, { url: receiver.url });
  const order = await placeTestOrder(partner);
  // A worker that has delivered the first event, and holds its stream while it stores the outcome.
  const transitioned = await test.db.withClient(async (client) => {
    await client.query("begin");
    const own = [connectionKey(partner).merchantId];
    await client.query("select from due_deliveries where merchant_id = $1 for update", own);
    const held = transition(partner, order.id, "hold");
    await untilBlocked(test, 1);
    await client.query("update deliveries set status = 'succeeded'");
    await client.query("delete from due_deliveries");
    await client.query("commit");
    return held;
  });
  expect(transitioned.status).toBe(200);
  await sendDue(startDispatcher(test));
  expect(received(receiver).map(({ sequence }) => sequence)).toEqual([2]);
});

it("an outcome that arrives while the next event of its order is written continues with that event", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  let answer = (): void => undefined;
  const receiver = await startReceiverForTest((_, response) => {
    answer = () => void response.end();
    if (receiver.requests.length > 1) answer();
  });
  await storeEndpoint(test, partner, { url: receiver.url });
  const order = await placeTestOrder(partner);
  const dispatcher = startDispatcher(test);
  await dispatcher.poll();
  await receiver.waitFor(1);
  // Its event is written and not committed when the outcome of the first one is to be stored.
  await holdOrder(test, partner, order.id, async () => {
    answer();
    await untilBlocked(test, 1);
  });
  await dispatcher.idle();
  expect(received(receiver).map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
});

/** Puts a test order on hold; `beforeCommit` happens when all of it has been written. */
async function holdOrder(
  test: TestService,
  partner: Partner,
  orderId: string,
  beforeCommit: () => Promise<void>,
): Promise<void> {
  const { context, db } = test;
  const transaction: Database["transaction"] = (work) =>
    db.transaction(async (tx) => {
      const answer = await work(tx);
      await beforeCommit();
      return answer;
    });
  await applyToOrder(
    { ...context, db: { ...db, transaction } },
    connectionKey(partner),
    orderId,
    { name: "hold", reasons: ["out_of_stock"] },
    { actor: PARTNER, operation: "hold" },
  );
}
