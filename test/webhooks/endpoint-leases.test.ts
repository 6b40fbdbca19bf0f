import { expect, it } from "vitest";
import { createPartner, placeOrder } from "../support/builders.ts";
import {
  readAttempts,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { startServiceForTest } from "../support/test-service.ts";

// See docs/design/deliveries.md, "Leases".

/** Two deliveries are in flight. The receiver responds to the first requests when the test calls `answerAll`, and to the others at once. */
async function start({ waitingMax = 2 } = {}) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const answers: (() => void)[] = [];
  const receiver = await startReceiverForTest((_, response) => {
    if (answers.length < waitingMax) answers.push(() => response.end());
    else response.end();
  });
  await storeEndpoint(test, partner, { url: receiver.url });
  const waiting = [(await placeOrder(partner)).id, (await placeOrder(partner)).id];
  const holder = startDispatcher(test);
  await holder.poll();
  await receiver.waitFor(2);
  const orderIds = () => received(receiver).map(({ orderId }) => orderId);
  const answerAll = () => {
    for (const answer of answers) answer();
  };
  return { test, partner, receiver, holder, waiting, orderIds, answerAll };
}

it("when a worker was killed, another one sends what is new after 15 seconds, and what was in flight after its lease", async () => {
  const { test, partner, waiting, orderIds, answerAll } = await start();
  const other = startDispatcher(test);
  const { id } = await placeOrder(partner);
  await sendDue(other);
  expect(orderIds().sort()).toEqual(waiting.toSorted());

  test.clock.advance({ seconds: 15 }); // The holder does not poll any more, as if it were gone.
  await sendDue(other);
  expect(orderIds()).toHaveLength(3);
  expect(orderIds()[2]).toBe(id);

  test.clock.advance({ seconds: 45 });
  await sendDue(other);
  expect(orderIds().slice(3).sort()).toEqual(waiting.toSorted());
  const lost = (await readAttempts(test)).filter(({ error }) => error?.startsWith("outcome unknown"));
  expect(lost).toHaveLength(2);
  answerAll();
});

it("a worker keeps an endpoint whose receiver takes its time: no other one sends to it", async () => {
  const { test, partner, holder, orderIds, answerAll } = await start();
  const other = startDispatcher(test);
  for (let count = 0; count < 4; count += 1) {
    test.clock.advance({ seconds: 5 });
    await holder.poll();
  }
  await placeOrder(partner);
  await sendDue(other);
  expect(orderIds()).toHaveLength(2);
  answerAll();
  await holder.idle();
  await sendDue(other);
  expect(orderIds()).toHaveLength(3);
});

it("a worker does not take back an endpoint that another one has leased since", async () => {
  const { test, partner, receiver, holder, answerAll } = await start({ waitingMax: 3 });
  test.clock.advance({ seconds: 15 });
  const state = { name: "", text: "select worker_id as id from webhook_endpoint_states", values: [] };
  const other = startDispatcher(test);
  await placeOrder(partner);
  await other.poll();
  await receiver.waitFor(3);
  const before = await test.db.query(state);
  test.clock.advance({ seconds: 4 });
  await holder.poll();
  expect(await test.db.query(state)).toEqual(before);
  answerAll();
});

it("a locked endpoint delays no other one of its worker", async () => {
  const { test, holder, orderIds, answerAll } = await start();
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest((_, response) => response.end());
  await storeEndpoint(test, partner, { url: receiver.url });
  await placeOrder(partner);
  test.clock.advance({ seconds: 4 });
  await test.db.withClient(async (client) => {
    await client.query(
      "begin; update webhook_endpoint_states set warnings_sent = 0 where worker_id is not null",
    );
    await holder.poll();
    await receiver.waitFor(1);
    await client.query("rollback");
  });
  expect(orderIds()).toHaveLength(2);
  answerAll();
});
