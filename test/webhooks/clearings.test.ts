import { describe, expect, it } from "vitest";
import { byService } from "../../src/audit/record-audit.ts";
import { after, MINUTE_MS } from "../../src/platform/time.ts";
import { claimDeliveries } from "../../src/webhooks/delivery/claim-sql.ts";
import { deleteEndpoint } from "../../src/webhooks/endpoints/change-endpoints.ts";
import { clearNextBatch } from "../../src/webhooks/endpoints/clearings.ts";
import { pauseByRequest } from "../../src/webhooks/endpoints/pause.ts";
import { countRows, createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  readAttempts,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { connectionKey } from "../support/orders.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { createEndpoint, endpointPath, loseWorker, readRows, uuidIn } from "../support/webhooks.ts";

const REQUESTED = byService("pauseWebhookEndpoint");
/** No clearing of these tests takes so many batches. One whose position is not stored would never end. */
const BATCHES_MAX = 20;

/** A partner with two endpoints and a number of orders, whose first event is due at both. */
async function start(orderCount: number, status = 500) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const answer = { status };
  const receiver = await startReceiverForTest((_, response) => {
    response.statusCode = answer.status;
    response.end();
  });
  const { id } = await createEndpoint(partner, { url: receiver.url });
  const { id: otherId } = await createEndpoint(partner, { eventTypes: ["order.created"] });
  for (let count = 0; count < orderCount; count += 1) await placeOrder(partner);
  const key = { ...connectionKey(partner), id: uuidIn("whe", id) };
  return {
    test,
    partner,
    answer,
    receiver,
    id,
    otherId,
    key,
    dueCount: async (endpointId = id) => (await readRows(test, "due_deliveries", endpointId)).length,
    statuses: async () => (await readRows(test, "deliveries", id)).map((row) => row["status"]),
    pause: () => pauseByRequest(test.context, key, REQUESTED),
    /** Removes a batch of at most two. */
    clearTwo: () => clearNextBatch(test.context, key, 2),
    /** Removes batches of at most two until the clearing has ended. Returns what `read` returned after each of them. */
    clearAll: async <T>(read: () => Promise<T>): Promise<T[]> => {
      const results: T[] = [];
      while ((await clearNextBatch(test.context, key, 2)) > 0) {
        results.push(await read());
        expect(results.length, "batches of a clearing that does not end").toBeLessThan(BATCHES_MAX);
      }
      return results;
    },
    resume: async () => {
      expect((await partner.client.post(endpointPath(id, "resume"))).status).toBe(200);
    },
    openClearings: () => countRows(test, "webhook_clearings"),
  };
}

describe("a pause or a deletion", () => {
  it("waits for nothing of what is due", async () => {
    const { test, key, id, pause, dueCount } = await start(5);
    await test.db.transaction(async (tx) => {
      const text =
        "select stream_id from due_deliveries where merchant_id = $1 and endpoint_id = $2 for update";
      await tx.query({ name: "test-lock-due", text, values: [key.merchantId, key.id] });
      expect(await pause()).toMatchObject({ status: "paused" });
      expect(await deleteEndpoint(test.context, key, REQUESTED)).toBe(true);
    });
    expect(await dueCount(id)).toBe(5);
  });

  it("lets nothing more be claimed, even by a worker that has leased the endpoint before", async () => {
    const { test, key, pause } = await start(3);
    const claim = () => {
      const now = test.clock.now();
      const ids = { scheduled: test.context.newId(), manual: test.context.newId() };
      const rooms = [{ ...key, endpointId: key.id, size: 1 }];
      return claimDeliveries(test.db, ids, { now, leasedUntil: after(now, MINUTE_MS) }, rooms);
    };
    expect(await claim()).toHaveLength(1);
    await pause();
    expect(await claim()).toEqual([]);
    await deleteEndpoint(test.context, key, REQUESTED);
    expect(await claim()).toEqual([]);
  });

  it("shows no next attempt, although what was due is not removed yet", async () => {
    const { test, partner, id, pause, dueCount } = await start(1);
    const nextAttempts = async () => {
      const list = await partner.client.get(`/v1/deliveries?endpointId=${id}`);
      const all = await test.backOffice.get(
        `/api/connections/${partner.connectionId}/deliveries?endpointId=${id}`,
      );
      const one = await partner.client.get(`/v1/deliveries/${list.body.data[0].id}`);
      return [...list.body.data, ...all.body.data, one.body].map(({ nextAttemptAt }) => nextAttemptAt);
    };
    expect(await nextAttempts()).toEqual(Array(3).fill(test.clock.now().toISOString()));
    await pause();
    expect(await dueCount()).toBe(1);
    expect(await nextAttempts()).toEqual([null, null, null]);
  });
});

describe("clear-endpoints", () => {
  it("removes what is due at a paused endpoint in batches, and nothing of others", async () => {
    const { test, otherId, dueCount, statuses, pause, clearAll, openClearings } = await start(5);
    await pause();
    expect(await clearAll(dueCount)).toEqual([3, 1, 0, 0]);
    expect([await dueCount(otherId), await openClearings()]).toEqual([5, 0]);
    expect(await statuses()).toEqual(Array(5).fill("pending"));
    expect(await runJob(test, "clear-endpoints")).toBe(0);
  });

  it("leaves attempts in progress, which end with their own outcome", async () => {
    const { test, key, dueCount, statuses, pause } = await start(2);
    await loseWorker(test, key.id);
    await placeOrder(await createPartner(test)); // Of another connection.
    await pause();
    await runJob(test, "clear-endpoints");
    expect(await dueCount()).toBe(2);
    await deleteEndpoint(test.context, key, REQUESTED);
    await runJob(test, "clear-endpoints");
    expect(await dueCount()).toBe(2);
    expect(await statuses()).toEqual(["pending", "pending"]);
  });

  it("fails the pending deliveries of a deleted endpoint in batches", async () => {
    const { test, key, dueCount, statuses, pause, clearTwo, clearAll, openClearings } = await start(5);
    await pause();
    await clearTwo();
    await deleteEndpoint(test.context, key, REQUESTED);
    const failedCount = async () => (await statuses()).filter((status) => status === "failed").length;
    expect(await clearAll(failedCount)).toEqual([0, 0, 0, 2, 4, 5, 5]);
    expect([await dueCount(), await openClearings()]).toEqual([0, 0]);
  });

  it("continues after a crash, with the batch that was not committed", async () => {
    const { test, key, dueCount, pause, clearTwo } = await start(5);
    await pause();
    await clearTwo();
    const transaction: typeof test.db.transaction = (work) =>
      test.db.transaction(async (tx) => {
        await work(tx);
        throw new Error("The worker is dead.");
      });
    const dying = { ...test.context, db: { ...test.db, transaction } };
    await expect(clearNextBatch(dying, key, 2)).rejects.toThrow("dead");
    expect(await dueCount()).toBe(3);
    await runJob(test, "clear-endpoints");
    expect(await dueCount()).toBe(0);
  });

  it("processes each batch once with many workers", async () => {
    const { dueCount, pause, clearTwo, openClearings } = await start(6);
    await pause();
    const round = () => Promise.all(Array.from({ length: 4 }, clearTwo));
    for (let count = 0; count < BATCHES_MAX && (await openClearings()) > 0; count += 1) await round();
    expect([await dueCount(), await openClearings()]).toEqual([0, 0]);
  });

  it("ends at a resume, and begins again at the next pause", async () => {
    const { test, dueCount, pause, resume, clearTwo, openClearings } = await start(4);
    await pause();
    await clearTwo();
    await resume();
    expect(await clearTwo()).toBe(1);
    expect([await dueCount(), await openClearings()]).toEqual([2, 0]);
    await runJob(test, "resend-deliveries");
    expect(await dueCount()).toBe(4);
    await pause();
    await clearTwo();
    await resume();
    await runJob(test, "resend-deliveries");
    await pause(); // Before a clearing has seen the resume.
    await runJob(test, "clear-endpoints");
    expect([await dueCount(), await openClearings()]).toEqual([0, 0]);
  });

  it("of an endpoint that is gone at once does not keep its row", async () => {
    const { test, key } = await start(0);
    await deleteEndpoint(test.context, key, REQUESTED);
    test.clock.advance({ hours: 1, ms: 1 });
    await runJob(test, "remove-deleted-endpoints");
    expect(await countRows(test, "webhook_endpoints")).toBe(1);
    expect(await countRows(test, "webhook_clearings")).toBe(0);
  });
});

describe("a resume while an endpoint is being cleared", () => {
  it("sends all at once, what is left and what was removed, each order in order", async () => {
    const { test, partner, answer, receiver, pause, resume, clearTwo } = await start(0);
    const orders = [];
    for (let count = 0; count < 5; count += 1) orders.push(await placeTestOrder(partner));
    const dispatcher = startDispatcher(test);
    await sendDue(dispatcher); // Each order waits for its retry, for seconds.
    for (const { id } of orders) await transition(partner, id, "hold");
    await pause();
    await clearTwo();
    for (const { id } of orders) await transition(partner, id, "releaseHold");
    answer.status = 200;
    const before = receiver.requests.length;
    await resume();
    await runJob(test, "resend-deliveries");
    await sendDue(dispatcher);
    const sent = received(receiver).slice(before);
    expect(sent).toHaveLength(15);
    for (const { id } of orders)
      expect(sent.filter(({ orderId }) => orderId === id).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it("begins the schedule of what is left again, as of what was removed", async () => {
    const { test, answer, pause, resume } = await start(1);
    const dispatcher = startDispatcher(test);
    await sendDue(dispatcher);
    await pause();
    answer.status = 200;
    await resume();
    await runJob(test, "resend-deliveries");
    await sendDue(dispatcher);
    const triggers = (await readAttempts(test)).filter(({ responseStatus }) => responseStatus !== null);
    expect(triggers.map(({ trigger, responseStatus }) => [trigger, responseStatus])).toEqual([
      ["schedule", 500],
      ["recovery", 200],
    ]);
  });

  it("makes the retries of an active endpoint due when failed deliveries are recovered; their schedule continues", async () => {
    const { test, partner, id } = await start(1);
    await sendDue(startDispatcher(test));
    const [waiting] = await readRows(test, "due_deliveries", id);
    await partner.client.post(endpointPath(id, "recover"), { since: test.clock.now().toISOString() });
    await runJob(test, "resend-deliveries");
    expect(await readRows(test, "due_deliveries", id)).toEqual([{ ...waiting, due_at: test.clock.now() }]);
  });
});
