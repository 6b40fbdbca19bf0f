import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { anOrder, createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  received,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { answering, type ReceivedRequest } from "../support/receivers.ts";
import { applied } from "../support/sandbox.ts";
import { startSending } from "../support/sending.ts";
import { dumpTables } from "../support/tables.ts";
import { createEndpoint, endpointPath } from "../support/webhooks.ts";

/*
 * Bugs that other senders of webhooks have had, each as a test that names it. Those about attempts and their record are
 * in known-bugs-of-attempts.test.ts. Other files cover:
 * - A crash between the commit and the queue loses the event: events/events.test.ts, dispatcher-model.test.ts.
 * - Payloads reordered by jsonb (outpost #718): events/events.test.ts.
 * - A feed by sequence numbers skips late commits: api/partner/event-feed-order.test.ts.
 * - A rotation that reuses an old end (outpost #951): api/partner/webhook-secrets.test.ts.
 * - Requests into the own network (convoy #2706 and #2756, smokescreen #163, #265, #277, LibreChat #14606):
 *   public-address.test.ts, sender-addresses.test.ts, addresses-on-send.test.ts.
 * - A connection per delivery (outpost #1017), unread bodies that hold sockets (undici #4364): sender.test.ts.
 * - One dead endpoint clogs the others (convoy #1926): sender.test.ts, hostile-receivers.test.ts.
 * - Responses too large to be recorded (outpost's 128 KiB): sender.test.ts, hostile-receivers.test.ts.
 * - Jobs that stay "running" after their worker died (river #1258): dispatch.test.ts.
 * - Recoveries that page by one column and sort by another (svix), or die with the process: recovery.test.ts.
 * - Retention blocked by foreign keys, or beside the log (convoy #2718, #2800, #2810): retention.test.ts.
 * - Twins after check-then-insert (convoy #2747): api/partner/create-order-idempotency.test.ts.
 * - Times with local offsets (outpost #715): api/partner/webhook-recovery-requests.test.ts.
 */

/** True if a request is signed with a secret; the library's own clock is not the test's. */
function isSignedWith(secret: string, { headers, body }: ReceivedRequest): boolean {
  const at = new Date(1_000 * Number(headers["webhook-timestamp"]));
  const signature = new Webhook(secret).sign(String(headers["webhook-id"]), at, body);
  return String(headers["webhook-signature"]).split(" ").includes(signature);
}

describe("a worker", () => {
  it("continues after the database has dropped its connections (svix #1844, outpost #775)", async () => {
    const { test, partner, receiver, send } = await startSending();
    await placeOrder(partner);
    await send();
    await test.db
      .runScript("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()")
      .catch(() => undefined); // It ends its own connection too.
    // Until the process has noticed it, it may still take one of the dropped connections: 503, and the partner repeats.
    const order = anOrder(partner);
    await expect
      .poll(async () => (await partner.client.post("/v1/orders", order)).status)
      .toBeOneOf([200, 201]);
    await expect
      .poll(async () => {
        await send();
        return receiver.requests.length;
      })
      .toBe(2);
  });

  it("makes an attempt that was due days ago (convoy #1667)", async () => {
    let status = 500;
    const { test, partner, receiver, send } = await startSending((request, response) =>
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

  it("leaves the table of due deliveries empty once all are sent (tuist #11336)", async () => {
    const { test, partner, receiver, send } = await startSending();
    const { id } = await placeTestOrder(partner);
    for (const name of ["hold", "releaseHold", "ship", "complete"]) await applied(partner, id, name);
    for (let count = 0; count < 30; count += 1) await placeOrder(partner);
    await send();
    expect(receiver.requests).toHaveLength(35);
    expect((await dumpTables(test))["due_deliveries"]).toEqual([]);
  });
});

describe("an endpoint that cannot be sent to", () => {
  it("because it was deleted causes no work that fails repeatedly (svix #1511)", async () => {
    const { test, partner, receiver, endpoint, send } = await startSending(answering(500));
    await placeOrder(partner);
    await send();
    await partner.client.request("DELETE", endpointPath(endpoint.id));
    await runJob(test, "clear-endpoints");
    await placeOrder(partner);
    test.clock.advance({ hours: 100 });
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect((await readDeliveries(test)).map(({ status }) => status)).toEqual(["failed"]);
    expect((await dumpTables(test))["due_deliveries"]).toEqual([]);
  });

  it("because it is being deleted gets nothing more except requests in flight (svix #1511)", async () => {
    let answerFirst: (() => void) | null = null;
    const { test, partner, receiver, endpoint, dispatcher } = await startSending(
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

  it("because its secret cannot be decrypted stops no other, and causes no endless work (outpost #957)", async () => {
    const { test, partner, receiver, dispatcher } = await startSending();
    const strange = { ...test, context: { ...test.context, secrets: createSecretBox([randomBytes(32)]) } };
    const unopened = await startReceiverForTest();
    await storeEndpoint(strange, partner, { url: unopened.url });
    await placeOrder(partner);
    const statements = vi.spyOn(test.db, "query");
    await dispatcher.poll();
    await receiver.waitFor(1);
    const statuses = async () => (await readDeliveries(test)).map(({ status }) => status).sort();
    // The outcome is stored some time after the response, later on a busy machine.
    await vi.waitFor(async () => expect(await statuses()).toEqual(["pending", "succeeded"]), {
      timeout: 20_000,
    });
    for (let count = 0; count < 300; count += 1) await readDeliveries(test); // Time to do it again and again.
    const leases = statements.mock.calls.filter(([{ name }]) => name === "lease-endpoints");
    expect(leases.length).toBeLessThan(10);
    expect(unopened.requests).toHaveLength(0);
    expect(await statuses()).toEqual(["pending", "succeeded"]);
  });

  it("is counted separately: the same address of another connection is not backed off (outpost #967)", async () => {
    const { test, partner, receiver, send } = await startSending(answering(500));
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

describe("a rotated secret", () => {
  it("signs exactly until its expiry (svix 0.65.1), also in a worker that has already used it", async () => {
    const { test, partner, receiver, endpoint, send } = await startSending();
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
