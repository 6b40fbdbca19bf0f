import { describe, expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import {
  readAttempts,
  readDeliveries,
  received,
  type StoredEndpoint,
  sendDue,
  startDispatcher,
  startReceiverForTest,
  storeEndpoint,
} from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { applied } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const forget = (test: TestService) => runJob(test, "purge-delivery-log");
const days = (count: number) => ({ hours: 24 * count });

/** Test orders that live for years, so that their transitions can publish events at any time. */
async function start(): Promise<{ test: TestService; partner: Partner }> {
  const test = await startServiceForTest({
    config: { testOrderLifetimeMs: 3e11, webhookAllowPrivateNetworks: true },
  });
  return { test, partner: await createPartner(test) };
}

const endpointOf = (test: TestService, partner: Partner): Promise<StoredEndpoint> =>
  storeEndpoint(test, partner, { url: "http://127.0.0.1:9/" });

const statuses = async (test: TestService) => (await readDeliveries(test)).map(({ status }) => status);

type Head = { deliveryId: string; streamId: string; attemptCount: number; claimId: string | null };

const heads = ({ db }: TestService): Promise<Head[]> =>
  db.query({
    name: "test-heads",
    text: `
      select delivery_id as "deliveryId", stream_id as "streamId", attempt_count as "attemptCount", claim_id as "claimId"
      from due_deliveries order by due_at, stream_id`,
    values: [],
  });

const pause = ({ db }: TestService, { id }: StoredEndpoint) =>
  db.runScript(`
    update webhook_endpoints set status = 'paused', pause_reason = 'failing', paused_at = now() where id = '${id}';
    delete from due_deliveries where endpoint_id = '${id}';`);

describe("a pending delivery whose event is older than thirty days", () => {
  it("fails exactly then, and its head is removed from the stream", async () => {
    const { test, partner } = await start();
    await endpointOf(test, partner);
    await placeTestOrder(partner);
    test.clock.advance(days(30));
    const before = await dumpTables(test);
    expect(await forget(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(before);
    test.clock.advance({ ms: 1 });
    expect(await forget(test)).toBe(1);
    expect(await statuses(test)).toEqual(["failed"]);
    expect(await heads(test)).toEqual([]);
    expect(await forget(test)).toBe(0);
  });

  it("leaves its stream to younger deliveries, which are then sent", async () => {
    const { test, partner } = await start();
    const receiver = await startReceiverForTest();
    await storeEndpoint(test, partner, { url: receiver.url });
    const { id } = await placeTestOrder(partner);
    await applied(partner, id, "hold");
    test.clock.advance(days(10));
    await applied(partner, id, "releaseHold");
    await applied(partner, id, "hold");
    test.clock.advance({ ...days(20), hours: 20 * 24 + 1 });
    expect(await forget(test)).toBe(1);
    expect(await statuses(test)).toEqual(["failed", "failed", "pending", "pending"]);
    await sendDue(startDispatcher(test));
    expect(received(receiver).map(({ sequence }) => sequence)).toEqual([3, 4]);
  });

  it("also fails when a partner has requested it", async () => {
    const { test, partner } = await start();
    await endpointOf(test, partner);
    await placeTestOrder(partner);
    await test.db.runScript(`
      update deliveries set status = 'failed';
      update due_deliveries set stream_id = delivery_id, trigger = 'manual';`);
    test.clock.advance(days(31));
    expect(await forget(test)).toBe(1);
    expect(await heads(test)).toEqual([]);
  });

  it("fails at a paused endpoint, where no stream has a head", async () => {
    const { test, partner } = await start();
    const endpoint = await endpointOf(test, partner);
    await placeTestOrder(partner);
    test.clock.advance(days(10));
    await placeTestOrder(partner);
    await pause(test, endpoint);
    test.clock.advance({ ...days(20), ms: 1 });
    expect(await forget(test)).toBe(1);
    expect(await statuses(test)).toEqual(["failed", "pending"]);
    expect(await heads(test)).toEqual([]);
  });

  it("does not change during an attempt", async () => {
    const { test, partner } = await start();
    await endpointOf(test, partner);
    await placeTestOrder(partner);
    test.clock.advance(days(31));
    const leasedUntil = new Date(test.clock.now().getTime() + 60_000).toISOString();
    await test.db.runScript(
      `update due_deliveries set claim_id = delivery_id, claimed_at = now(), leased_until = '${leasedUntil}'`,
    );
    expect(await forget(test)).toBe(0);
    expect(await statuses(test)).toEqual(["pending"]);
    test.clock.advance({ minutes: 1 });
    expect(await forget(test)).toBe(1);
    expect(await statuses(test)).toEqual(["failed"]);
  });
});

describe("the log of deliveries", () => {
  it("contains ninety days: older deliveries are deleted, and no younger ones", async () => {
    const { test, partner } = await start();
    const receiver = await startReceiverForTest();
    await storeEndpoint(test, partner, { url: receiver.url });
    const dispatcher = startDispatcher(test);
    await placeTestOrder(partner);
    await sendDue(dispatcher);
    test.clock.advance({ ms: 1 });
    await placeTestOrder(partner);
    await sendDue(dispatcher);
    const [, younger] = await readDeliveries(test);
    test.clock.advance({ ...days(90), ms: -1 });
    expect(await forget(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await forget(test)).toBe(1);
    expect(await readDeliveries(test)).toEqual([younger]);
    expect(await readAttempts(test)).toHaveLength(1); // A success goes with its delivery.
  });

  it("is purged for every connection, whatever its size", async () => {
    const { test, partner } = await start();
    const other = await createPartner(test);
    for (const one of [partner, other]) {
      await pause(test, await endpointOf(test, one));
      await placeTestOrder(one);
    }
    await test.db.runScript(`
      insert into deliveries
      select (jsonb_populate_record(d, jsonb_build_object('id', left(d.id::text, 28) || lpad(n::text, 8, '0')))).*
      from deliveries d, generate_series(2, 1200) n`);
    test.clock.advance({ ...days(90), ms: 1 });
    expect(await forget(test)).toBe(2 * 2 * 1_200); // Given up, then deleted.
    expect(await readDeliveries(test)).toEqual([]);
  });

  it("is purged once by several workers at the same time", async () => {
    const { test, partner } = await start();
    await endpointOf(test, partner);
    for (let count = 0; count < 5; count += 1) await placeTestOrder(partner);
    test.clock.advance({ ...days(30), ms: 1 });
    const counts = await Promise.all([forget(test), forget(test), forget(test)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(5);
    expect(new Set(await statuses(test))).toEqual(new Set(["failed"]));
  });
});

describe("data of endpoints", () => {
  it("an expired signing secret is deleted; the newest and one that still signs stay", async () => {
    const { test, partner } = await start();
    const { merchantId, connectionId, id } = await endpointOf(test, partner);
    const now = test.clock.now().getTime();
    for (const expiresAt of [now + 1, now + 2])
      await test.db.query({
        name: "test-older-secret",
        text: "insert into webhook_secrets values ($5, $1, $2, $3, 'sealed', $4, $4)",
        values: [connectionId, id, test.context.newId(), new Date(expiresAt), merchantId],
      });
    expect(await forget(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await forget(test)).toBe(1);
    expect((await dumpTables(test))["webhook_secrets"]).toHaveLength(2);
  });

  it("a recovery is purged ninety days after it finished, and an unfinished one never", async () => {
    const { test, partner } = await start();
    const { merchantId, connectionId, id } = await endpointOf(test, partner);
    for (const finishedAt of [test.clock.now(), null])
      await test.db.query({
        name: "test-recovery",
        text: `
          insert into webhook_resends (
            merchant_id, connection_id, id, endpoint_id, in_order, delivery_status, since, until, position, sending, is_read,
            succeeded_count, failed_count, skipped, created_at, finished_at)
          values ($6, $1, $2, $3, true, case when $5::timestamptz is null then 'failed' else 'pending' end, $4, $4, $2, '{}',
                  false, 0, 0, '{}', $4, $5)`,
        values: [connectionId, test.context.newId(), id, test.clock.now(), finishedAt, merchantId],
      });
    test.clock.advance(days(90));
    expect(await forget(test)).toBe(0);
    test.clock.advance({ ms: 1 });
    expect(await forget(test)).toBe(1);
    expect((await dumpTables(test))["webhook_resends"]).toHaveLength(1);
  });
});
