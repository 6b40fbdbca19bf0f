import { expect, it, onTestFinished, vi } from "vitest";
import { type Database, openDatabase } from "../../src/platform/database/database.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { answering } from "../support/receivers.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

// See docs/design/deliveries.md, "Outcomes".

/**
 * Connections of a dispatcher, which wait for locks for a short time, and the names of the statements that failed together.
 * That time does not reach the nodes of Citus: there, as in a worker, statements wait until their own limit.
 */
function openWatched({ context }: TestService) {
  const pool = openDatabase({
    url: context.config.databaseUrl ?? "",
    connectionsMax: 6,
    lockTimeoutMs: 200,
    statementTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  onTestFinished(pool.close);
  const failed: string[][] = [];
  const transaction: Database["transaction"] = async (work) => {
    const names: string[] = [];
    try {
      return await pool.transaction((tx) =>
        work({
          ...tx,
          query: (statement) => {
            names.push(statement.name);
            return tx.query(statement);
          },
        }),
      );
    } catch (error) {
      failed.push(names);
      throw error;
    }
  };
  const query: Database["query"] = (statement) =>
    pool.query<never>(statement).catch((error: unknown) => {
      failed.push([statement.name]);
      throw error;
    });
  return { failed, context: { ...context, db: { ...pool, query, transaction } } };
}

/**
 * Two deliveries to an endpoint are in flight, after one that succeeded. When the test calls `answer`, they and all later
 * ones get this status. Another endpoint always gets 500.
 */
async function start(status: number) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const [partner, other] = [await createPartner(test), await createPartner(test)];
  const respond = { now: true, status: 200 };
  const answers: (() => void)[] = [];
  const receiver = await startReceiverForTest((_, response) => {
    const answer = () => response.writeHead(respond.status).end();
    if (respond.now) answer();
    else answers.push(answer);
  });
  const failing = await startReceiverForTest(answering(500));
  const { id } = await storeEndpoint(test, partner, { url: receiver.url });
  const { id: otherId } = await storeEndpoint(test, other, { url: failing.url });
  const { failed, context } = openWatched(test);
  const dispatcher = startDispatcher({ ...test, context });
  await placeOrder(partner);
  await sendDue(dispatcher);
  respond.now = false;
  await placeOrder(partner);
  await placeOrder(partner);
  await dispatcher.poll();
  await receiver.waitFor(3);
  return {
    ...{ test, partner, other, receiver, failing, id, otherId, dispatcher, failed },
    answer: () => {
      Object.assign(respond, { now: true, status });
      for (const answer of answers) answer();
    },
    /** The statuses of the attempts of an endpoint. */
    attemptsOf: async (endpointId: string) => {
      const deliveries = (await readDeliveries(test)).filter(
        (delivery) => delivery.endpointId === endpointId,
      );
      const ids = new Set(deliveries.map((delivery) => delivery.id));
      const attempts = (await readAttempts(test)).filter(({ deliveryId }) => ids.has(deliveryId));
      return attempts.map(({ responseStatus }) => responseStatus);
    },
  };
}

const LOCK_HEAD = `
  select from due_deliveries
  where merchant_id = $1 and stream_id = (
    select min(stream_id::text)::uuid from due_deliveries where merchant_id = $1 and claim_id is not null)
  for update`;

/** On a machine that is busy. */
const PATIENCE = { timeout: 20_000 };

it.each([200, 500])(
  "an outcome (%i) behind a lock delays its own endpoint only, and is stored once",
  async (status) => {
    const { test, partner, other, receiver, failing, id, otherId, dispatcher, failed, answer, attemptsOf } =
      await start(status);
    await test.db.withClient(async (client) => {
      await client.query("begin");
      await client.query(LOCK_HEAD, [uuidIn("mer", partner.merchantId)]);
      answer();
      for (let count = 1; count <= 3; count += 1) {
        await vi.waitFor(() => expect(failed.length).toBeGreaterThan(count), PATIENCE);
        await placeOrder(partner);
        await placeOrder(other);
        await dispatcher.poll();
        await failing.waitFor(count);
        await vi.waitFor(async () => expect(await attemptsOf(otherId)).toHaveLength(count), PATIENCE);
      }
      await client.query("rollback");
    });
    const together = failed.filter((names) => !names.some((name) => name.startsWith("limit-lock-waits")));
    expect(together.length, "failures that others had to wait for").toBeLessThanOrEqual(1);
    expect(receiver.requests, "nothing more is sent while an outcome waits").toHaveLength(3);
    await dispatcher.idle();
    await sendDue(dispatcher);
    expect(await attemptsOf(id)).toEqual([200, ...Array(5).fill(status)]);
    expect(receiver.requests).toHaveLength(6);
    const [state] = await test.db.query<{ count: number }>({
      name: "test-failures-in-a-row",
      text: "select consecutive_failures as count from webhook_endpoint_states where endpoint_id = $1",
      values: [id],
    });
    expect(state?.count).toBe(status === 200 ? 0 : 5);
  },
);
