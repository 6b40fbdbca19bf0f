import { describe, expect, it } from "vitest";
import { placeOrder } from "../support/builders.ts";
import { readDelivery, redeliver } from "../support/deliveries.ts";
import { readAttempts, startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { answering } from "../support/receivers.ts";
import { startSending } from "../support/sending.ts";
import { createEndpoint, deliveryOf, endpointPath } from "../support/webhooks.ts";

// As known-bugs.test.ts: bugs that others who send webhooks have had, here about attempts and their record.

describe("an outcome", () => {
  it("that cannot be stored at first does not cause further requests (outpost #276)", async () => {
    const { test, partner, receiver, send } = await startSending();
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
  ])("with %s in its body is recorded, and not retried (outpost's 128 KiB)", async (_, body) => {
    const { test, partner, receiver, send } = await startSending((_request, response) => response.end(body));
    await placeOrder(partner);
    await send();
    test.clock.advance({ hours: 1 });
    await send();
    expect(receiver.requests).toHaveLength(1);
    expect(await readAttempts(test)).toHaveLength(1);
  });

  it("is stored for each of many that are stored together (outpost #953)", async () => {
    const { test, partner, send } = await startSending(undefined, { maxInFlight: 50 });
    await createEndpoint(partner, { url: (await startReceiverForTest()).url, maxInFlight: 50 });
    for (let count = 0; count < 40; count += 1) await placeOrder(partner);
    await send();
    expect(new Set((await readAttempts(test)).map(({ deliveryId }) => deliveryId)).size).toBe(80);
  });
});

describe("a manual attempt", () => {
  it("has a number in the order of all attempts (outpost #740, #781)", async () => {
    const { test, partner, endpoint, send } = await startSending(answering(500));
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    const listAttempts = async () =>
      (await readDelivery(partner, id)).attempts.map(
        ({ number, trigger }: { number: number; trigger: string }) => `${number} ${trigger}`,
      );
    await send();
    await redeliver(partner, id);
    await send();
    test.clock.advance({ seconds: 6 });
    await send();
    await redeliver(partner, id);
    await send();
    expect(await listAttempts()).toEqual(["1 schedule", "2 manual", "3 schedule", "4 manual"]);
    // The next interval of the schedule is its second, 30 s: manual attempts have used none.
    const { nextAttemptAt } = await readDelivery(partner, id);
    const waitMs = Date.parse(nextAttemptAt) - test.clock.now().getTime();
    expect(waitMs).toBeGreaterThanOrEqual(24_000);
    expect(waitMs).toBeLessThanOrEqual(36_000);
  });

  it("is stored in addition to a scheduled attempt at the same time (outpost #740)", async () => {
    const { partner, receiver, endpoint, send } = await startSending();
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    await redeliver(partner, id);
    await send();
    const { status, attempts } = await readDelivery(partner, id);
    expect(status).toBe("succeeded");
    expect(attempts).toHaveLength(receiver.requests.length);
  });

  it("is not ignored because of an earlier one (outpost #670)", async () => {
    const { partner, receiver, endpoint, send } = await startSending();
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
  it("has the same id and the same bytes in every delivery (ay-framework #252, documenso #3204)", async () => {
    let status = 500;
    const { test, partner, receiver, endpoint, send } = await startSending((request, response) =>
      answering(status)(request, response),
    );
    const since = test.clock.now().toISOString();
    const order = await placeOrder(partner);
    const id = await deliveryOf(partner, endpoint.id, order.id);
    for (
      let next: string | null = since;
      next !== null;
      next = (await readDelivery(partner, id)).nextAttemptAt
    ) {
      test.clock.advance({ ms: Date.parse(next) - test.clock.now().getTime() });
      await send();
    }
    expect((await readDelivery(partner, id)).status).toBe("failed");
    const afterTheHold = () => {
      test.clock.advance({ minutes: 5 });
      return send();
    };
    await redeliver(partner, id);
    await afterTheHold();
    status = 200;
    await partner.client.post(endpointPath(endpoint.id, "recover"), { since });
    await runJob(test, "resend-deliveries");
    await afterTheHold();
    const { attempts } = await readDelivery(partner, id);
    const triggers = new Set(attempts.map(({ trigger }: { trigger: string }) => trigger));
    expect([...triggers]).toEqual(["schedule", "manual", "recovery"]);
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });
});
