import { expect, it } from "vitest";
import { createPartner, placeTestOrder } from "../support/builders.ts";
import {
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("an event written while the outcome of the one before it is being stored is sent next, and that one not again", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest();
  await storeEndpoint(test, partner, { url: receiver.url });
  const order = await placeTestOrder(partner);
  // A worker that has delivered the first event, and holds its lane while it stores the outcome.
  const stepped = await test.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("select from due_deliveries for update");
    const step = transition(partner, order.id, "hold");
    while ((await waitingForLocks()) === 0);
    await client.query("update deliveries set status = 'succeeded'");
    await client.query("delete from due_deliveries");
    await client.query("commit");
    return step;
  });
  expect(stepped.status).toBe(200);
  await sendDue(startDispatcher(test));
  expect(received(receiver).map(({ sequence }) => sequence)).toEqual([2]);

  async function waitingForLocks(): Promise<number> {
    const [row] = await test.db.query<{ count: number }>({
      name: "test-waiting-for-locks",
      text: `select count(*)::integer as count from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'`,
      values: [],
    });
    return row?.count ?? 0;
  }
});
