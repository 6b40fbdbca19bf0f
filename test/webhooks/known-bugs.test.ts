import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { createSecretBox } from "../../src/webhooks/endpoints/secret-box.ts";
import { createPartner, type Partner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { runChore } from "../support/chores.ts";
import {
  readAttempts,
  readDeliveries,
  received,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import type { ReceivedRequest, ReceiverHandler } from "../support/receivers.ts";
import { applied } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { createEndpoint, deliveryOf, endpointPath } from "../support/webhooks.ts";

/*
 * Bugs that others who send webhooks have had, each as a test that names it. Held by other files already:
 * - A crash between the commit and the queue loses the event: events/events.test.ts, dispatcher-model.test.ts.
 * - Payloads reordered by jsonb (outpost #718): events/events.test.ts.
 * - A feed by sequence numbers skips late commits: partner-api/event-feed.test.ts.
 * - A rotation that reuses an old end (outpost #951): partner-api/webhook-secrets.test.ts.
 * - Requests into the own network (convoy #2706 and #2756, smokescreen #163, #265, #277, LibreChat #14606):
 *   public-address.test.ts, sender-addresses.test.ts, addresses-on-send.test.ts.
 * - A connection per delivery (outpost #1017), unread bodies that hold sockets (undici #4364): sender.test.ts.
 * - One dead endpoint clogs the others (convoy #1926): sender.test.ts, hostile-receivers.test.ts.
 * - Answers too large to be recorded (outpost's 128 KiB): sender.test.ts, hostile-receivers.test.ts.
 * - Jobs that stay "running" after their worker died (river #1258): dispatch.test.ts.
 * - Recoveries that page by one column and sort by another (svix), or die with the process: recovery.test.ts.
 * - Retention blocked by foreign keys, or beside the log (convoy #2718, #2800, #2810): retention.test.ts.
 * - Twins after check-then-insert (convoy #2747): partner-api/create-order-idempotency.test.ts.
 * - Times with local offsets (outpost #715): partner-api/webhook-recovery-requests.test.ts.
 */

const answering =
  (status: number): ReceiverHandler =>
  (_, response) =>
    response.writeHead(status).end();

/** A partner with an endpoint and a receiver that answers as it is told to. */
async function start(handler?: ReceiverHandler, fields: object = {}) {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const partner = await createPartner(test);
  const receiver = await startReceiverForTest(handler);
  const endpoint = await createEndpoint(partner, { url: receiver.url, ...fields });
  const dispatcher = startDispatcher(test);
  return { test, partner, receiver, endpoint, dispatcher, send: () => sendDue(dispatcher) };
}

const read = async (partner: Partner, deliveryId: string) =>
  (await partner.client.get(`/v1/deliveries/${deliveryId}`)).body;
const redeliver = (partner: Partner, deliveryId: string) =>
  partner.client.post(`/v1/deliveries/${deliveryId}/redeliver`);

/** Whether a request is signed with a secret; the library's own clock is not the test's. */
function isSignedWith(secret: string, { headers, body }: ReceivedRequest): boolean {
  const at = new Date(1_000 * Number(headers["webhook-timestamp"]));
  const signature = new Webhook(secret).sign(String(headers["webhook-id"]), at, body);
  return String(headers["webhook-signature"]).split(" ").includes(signature);
}

describe("a worker", () => {
  it("goes on by itself after the database has dropped its connections (svix #1844, outpost #775)", async () => {
    const { test, partner, receiver, send } = await start();
    await placeOrder(partner);
    await send();
    await test.db
      .runScript("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()")
      .catch(() => undefined); // It ends its own connection too.
    await placeOrder(partner);
    await send();
    expect(receiver.requests).toHaveLength(2);
  });

  it("picks up a try that was due days ago (convoy #1667)", async () => {
    let status = 500;
    const { test, partner, receiver, send } = await start((request, response) =>
      answering(status)(request, response),
    );
    await placeOrder(partner);
    await send();
    status = 200;
    test.clock.advance({ hours: 72 });
    await send();
    expect(receiver.requests).toHaveLength(2);
    expect((await readDeliveries(test)).map((delivery) => delivery.status)).toEqual(["succeeded"]);
  });

  it("leaves nothing in the table of due work once all is sent (tuist #11336)", async () => {
    const { test, partner, receiver, send } = await start();
    const { id } = await placeTestOrder(partner);
    for (const step of ["hold", "releaseHold", "ship", "complete"]) await applied(partner, id, step);
    for (let count = 0; count < 30; count += 1) await placeOrder(partner);
    await send();
    expect(receiver.requests).toHaveLength(35);
    expect((await dumpTables(test))["due_deliveries"]).toEqual([]);
  });
});

describe("an endpoint that cannot be sent to", () => {
  it("because it was deleted leaves no task that fails for ever (svix #1511)", async () => {
    const { test, partner, receiver, endpoint, send } = await start(answering(500));
    await placeOrder(partner);
    await send();
    await partner.client.request("DELETE", endpointPath(endpoint.id));
    await placeOrder(partner);
    test.clock.advance({ hours: 100 });
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["failed"]);
    expect((await dumpTables(test))["due_deliveries"]).toEqual([]);
  });

  it("because it is deleted meanwhile is sent nothing more but what is under way (svix #1511)", async () => {
    let answerFirst: (() => void) | null = null;
    const { test, partner, receiver, endpoint, dispatcher } = await start(
      (_, response) => {
        if (answerFirst === null) answerFirst = () => response.end();
        else response.end();
      },
      { maxInFlight: 1 },
    );
    for (let count = 0; count < 4; count += 1) await placeOrder(partner);
    await dispatcher.poll();
    await receiver.waitFor(1);
    await partner.client.request("DELETE", endpointPath(endpoint.id));
    (answerFirst as (() => void) | null)?.(); // Its type is that of before the request.
    await dispatcher.idle();
    expect(receiver.requests).toHaveLength(1);
    expect(await readAttempts(test)).toHaveLength(1);
  });

  it("because its secret cannot be opened stops no other, and keeps no worker busy (outpost #957)", async () => {
    const { test, partner, receiver, dispatcher } = await start();
    const strange = { ...test, service: { ...test.service, secrets: createSecretBox([randomBytes(32)]) } };
    const unopened = await startReceiverForTest();
    await storeEndpoint(strange, partner, { url: unopened.url });
    await placeOrder(partner);
    const statements = vi.spyOn(test.db, "query");
    await dispatcher.poll();
    await receiver.waitFor(1);
    for (let count = 0; count < 300; count += 1) await readDeliveries(test); // Time to do it again and again.
    const leases = statements.mock.calls.filter(([{ name }]) => name === "lease-endpoints");
    expect(leases.length).toBeLessThan(10);
    expect(unopened.requests).toHaveLength(0);
    expect((await readDeliveries(test)).map(({ status }) => status).sort()).toEqual(["pending", "succeeded"]);
  });

  it("is counted for itself: the same address of another connection is not held (outpost #967)", async () => {
    const { test, partner, receiver, send } = await start(answering(500));
    for (let count = 0; count < 10; count += 1) await placeOrder(partner);
    await send();
    const other = await createPartner(test);
    await createEndpoint(other, { url: receiver.url });
    await placeOrder(partner);
    const { id } = await placeOrder(other);
    const before = receiver.requests.length;
    await send();
    expect(received(receiver).slice(before)).toEqual([{ type: "order.created", sequence: 1, orderId: id }]);
  });
});

describe("an outcome", () => {
  it("that cannot be put on record at first is not sent again and again (outpost #276)", async () => {
    const { test, partner, receiver, send } = await start();
    await placeOrder(partner);
    // No partition takes the attempt.
    for (const { name } of await test.db.query<{ name: string }>({
      name: "test-attempt-partitions",
      text: "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'attempts'::regclass",
      values: [],
    }))
      await test.db.runScript(`drop table ${name}`);
    await send();
    test.clock.advance({ hours: 1 });
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect(await readAttempts(test)).toEqual([expect.objectContaining({ responseStatus: 200 })]);
  });

  it.each([
    ["NUL", Buffer.from([0, 0, 0])],
    ["no UTF-8", Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80])],
    ["half a character at the limit", Buffer.from("a".repeat(1_023) + "é".repeat(9))],
  ])("with %s in its body goes on record, and is not tried again (outpost's 128 KiB)", async (_, body) => {
    const { test, partner, receiver, send } = await start((_request, response) => response.end(body));
    await placeOrder(partner);
    await send();
    test.clock.advance({ hours: 1 });
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect(await readAttempts(test)).toHaveLength(1);
  });

  it("is on record for each of many that are stored together (outpost #953)", async () => {
    const { test, partner, send } = await start(undefined, { maxInFlight: 50 });
    await createEndpoint(partner, { url: (await startReceiverForTest()).url, maxInFlight: 50 });
    for (let count = 0; count < 40; count += 1) await placeOrder(partner);
    await send();
    expect(new Set((await readAttempts(test)).map(({ deliveryId }) => deliveryId)).size).toBe(80);
  });
});

describe("a try by hand", () => {
  it("does not confuse the numbers of the attempts (outpost #740, #781)", async () => {
    const { test, partner, endpoint, send } = await start(answering(500));
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    const tell = async () =>
      (await read(partner, id)).attempts.map(
        ({ number, trigger }: { number: number; trigger: string }) => `${number} ${trigger}`,
      );
    await send();
    await redeliver(partner, id);
    await send();
    test.clock.advance({ seconds: 6 });
    await send();
    await redeliver(partner, id);
    await send();
    expect(await tell()).toEqual(["1 schedule", "2 manual", "3 schedule", "4 manual"]);
    // The next step of the schedule is its second, 30 s: tries by hand have not used any up.
    const { nextAttemptAt } = await read(partner, id);
    const waitMs = Date.parse(nextAttemptAt) - test.clock.now().getTime();
    expect(waitMs).toBeGreaterThanOrEqual(24_000);
    expect(waitMs).toBeLessThanOrEqual(36_000);
  });

  it("is on record beside one of the schedule that goes out with it (outpost #740)", async () => {
    const { partner, receiver, endpoint, send } = await start();
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    await redeliver(partner, id);
    await send();
    const { status, attempts } = await read(partner, id);
    expect(status).toBe("succeeded");
    expect(attempts).toHaveLength(receiver.requests.length);
  });

  it("is not swallowed because there was one before (outpost #670)", async () => {
    const { partner, receiver, endpoint, send } = await start();
    const order = await placeOrder(partner);
    await send();
    const id = await deliveryOf(partner, endpoint.id, order.id);
    for (let count = 0; count < 3; count += 1) {
      expect((await redeliver(partner, id)).status).toBe(202);
      await send();
    }
    expect(receiver.requests).toHaveLength(4);
  });
});

describe("an event", () => {
  it("has one id on every way that it takes, and the same bytes (ay-framework #252, documenso #3204)", async () => {
    let status = 500;
    const { test, partner, receiver, endpoint, send } = await start((request, response) =>
      answering(status)(request, response),
    );
    const since = test.clock.now().toISOString();
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    for (let next: string | null = since; next !== null; next = (await read(partner, id)).nextAttemptAt) {
      test.clock.advance({ ms: Date.parse(next) - test.clock.now().getTime() });
      await send();
    }
    expect((await read(partner, id)).status).toBe("failed");
    const afterTheHold = () => {
      test.clock.advance({ minutes: 5 });
      return send();
    };
    await redeliver(partner, id);
    await afterTheHold();
    status = 200;
    await partner.client.post(endpointPath(endpoint.id, "recover"), { since });
    await runChore(test, "recover-deliveries");
    await afterTheHold();
    const { attempts } = await read(partner, id);
    const triggers = new Set(attempts.map(({ trigger }: { trigger: string }) => trigger));
    expect([...triggers]).toEqual(["schedule", "manual", "recovery"]);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });
});

describe("a rotated secret", () => {
  it("signs until its end and not a moment longer (svix 0.65.1), also for a worker that knew it before", async () => {
    const { test, partner, receiver, endpoint, send } = await start();
    const rotate = async (body: object) =>
      (await partner.client.post(endpointPath(endpoint.id, "rotate-secret"), body)).body.secret;
    const old = endpoint.secret;
    const signers = async (secrets: string[]) => {
      await placeOrder(partner);
      await send();
      const [last] = receiver.requests.slice(-1);
      return secrets.map((secret) => last !== undefined && isSignedWith(secret, last));
    };
    expect(await signers([old])).toEqual([true]);
    const next = await rotate({ overlapHours: 1 });
    expect(await signers([next, old])).toEqual([true, true]);
    test.clock.advance({ hours: 1, ms: -1 });
    expect(await signers([next, old])).toEqual([true, true]);
    test.clock.advance({ ms: 1 });
    expect(await signers([next, old])).toEqual([true, false]);
    const last = await rotate({ overlapHours: 0 });
    expect(await signers([last, next, old])).toEqual([true, false, false]);
  });
});
