import { describe, expect, it, vi } from "vitest";
import { ensureEventPartitions } from "../../src/database/event-partitions.ts";
import { fromTypeId } from "../../src/ids.ts";
import { createMetrics } from "../../src/metrics.ts";
import { CHORES, type Chore, startWorker } from "../../src/worker/worker.ts";
import {
  countRows,
  createPartner,
  type Partner,
  placeOrder,
  placeTestOrder,
  readEvents,
} from "../support/builders.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

function choreNamed(name: string): Chore {
  const chore = CHORES.find((candidate) => candidate.name === name);
  if (chore === undefined) throw new Error(`The worker has no chore ${name}.`);
  return chore;
}
const accept = ({ service }: TestService) => choreNamed("accept-orders").run(service);

/** Waits until a condition holds, and fails when it does not in good time. */
const until = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, { timeout: 10_000, interval: 5 }).toBe(true);

/** How an order lies in the table, without anybody looking at the clock. */
async function storedStatuses(test: TestService, connectionId?: string): Promise<string[]> {
  const rows = await test.db.query<{ connection_id: string; status: string }>({
    name: "test-stored-statuses",
    text: "select connection_id, status from orders order by id",
    values: [],
  });
  const uuid = connectionId === undefined ? null : fromTypeId("con", connectionId);
  return rows.filter((row) => uuid === null || row.connection_id === uuid).map(({ status }) => status);
}

/** Copies the only order of a connection until it has `count` of them. */
async function copyOrder(test: TestService, { connectionId }: Partner, count: number): Promise<void> {
  await test.db.runScript(`
    insert into orders
    select (jsonb_populate_record(o, jsonb_build_object(
             'id', gen_random_uuid(), 'idempotency_key', 'copy ' || n, 'external_order_id', 'copy ' || n))).*
    from orders o, generate_series(2, ${count}) n
    where o.connection_id = '${fromTypeId("con", connectionId)}'`);
}

describe("startWorker", () => {
  it("runs every chore, again and again", async () => {
    const test = await startServiceForTest();
    const rounds = { one: 0, two: 0 };
    const chores = (["one", "two"] as const).map((name) => ({
      name,
      everyMs: 1,
      run: async () => {
        rounds[name] += 1;
        return 1;
      },
    }));
    const worker = startWorker(test.service, createMetrics(), chores);
    await until(() => rounds.one >= 3 && rounds.two >= 3);
    await worker.stop();
  });

  it("tries a failing chore again, and lets it stop no other", async () => {
    const test = await startServiceForTest();
    const metrics = createMetrics();
    const failed = vi.spyOn(metrics, "choreFailed");
    const done = vi.spyOn(metrics, "choreDone");
    const fail = (): never => {
      throw new Error("This chore always fails.");
    };
    const worker = startWorker(test.service, metrics, [
      { name: "throws", everyMs: 1, run: fail },
      { name: "rejects", everyMs: 1, run: async () => fail() },
      { name: "works", everyMs: 1, run: async () => 7 },
    ]);
    const failures = (name: string) => failed.mock.calls.filter(([chore]) => chore === name).length;
    await until(() => failures("throws") >= 3 && failures("rejects") >= 3 && done.mock.calls.length >= 3);
    await worker.stop();
    expect(new Set(done.mock.calls.map(([name, count]) => `${name} ${count}`))).toEqual(new Set(["works 7"]));
  });

  it("goes on with a chore that works again after it has failed", async () => {
    const test = await startServiceForTest();
    let rounds = 0;
    const run = async () => {
      rounds += 1;
      if (rounds <= 2) throw new Error("Not yet.");
      return rounds;
    };
    const metrics = createMetrics();
    const done = vi.spyOn(metrics, "choreDone");
    const worker = startWorker(test.service, metrics, [{ name: "recovers", everyMs: 1, run }]);
    await until(() => done.mock.calls.length > 0);
    await worker.stop();
    expect(done.mock.calls[0]).toEqual(["recovers", 3]);
  });

  it("stop ends the loops: it waits for the round under way and starts no other", async () => {
    const test = await startServiceForTest();
    let started = 0;
    let finish = () => {};
    const run = () => {
      started += 1;
      return new Promise<number>((resolve) => {
        finish = () => resolve(1);
      });
    };
    const worker = startWorker(test.service, createMetrics(), [{ name: "slow", everyMs: 0, run }]);
    await until(() => started === 1);
    let stopped = false;
    const stopping = worker.stop().then(() => {
      stopped = true;
    });
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    finish();
    await stopping;
    expect(started).toBe(1);
  });

  it("stop does not wait for the next turn of a chore that rests", async () => {
    const test = await startServiceForTest();
    let rounds = 0;
    const run = async () => {
      rounds += 1;
      return 1;
    };
    const worker = startWorker(test.service, createMetrics(), [{ name: "rare", everyMs: 3_600_000, run }]);
    await until(() => rounds === 1);
    await worker.stop(); // The test would time out if this waited.
    expect(rounds).toBe(1);
  });

  it("stop may be called twice, and before the first round has ended", async () => {
    const test = await startServiceForTest();
    const worker = startWorker(test.service, createMetrics());
    await Promise.all([worker.stop(), worker.stop()]);
  });

  it("by itself accepts what is due and erases what has expired", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    const worker = startWorker(test.service, createMetrics());
    await until(async () => (await storedStatuses(test)).join() === "ACCEPTED");
    await worker.stop();
  });

  it("goes on when the database fails for a while", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    await test.db.runScript("alter table orders rename to orders_away");
    const metrics = createMetrics();
    const failed = vi.spyOn(metrics, "choreFailed");
    const quick = CHORES.map((chore) => ({ ...chore, everyMs: 5 }));
    const worker = startWorker(test.service, metrics, quick);
    await until(() => failed.mock.calls.length >= 4);
    await test.db.runScript("alter table orders_away rename to orders");
    await until(async () => (await storedStatuses(test)).join() === "ACCEPTED");
    await worker.stop();
  });
});

describe("accept-orders", () => {
  it("accepts due orders, leaves the others as they are, and publishes nothing", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test, { reviewPolicy: { maxQuantity: 1 } });
    const lines = [{ productId: partner.productIds[0], quantity: 2 }];
    const due = await placeOrder(partner);
    await placeOrder(partner, { lines }); // Under review: it never has a window.
    const canceled = await placeOrder(partner);
    await partner.client.post(`/v1/orders/${canceled.id}/cancel`);
    test.clock.advance({ ms: 1 });
    await placeOrder(partner);
    const events = await readEvents(test);
    test.clock.advance({ hours: 2, ms: -1 });
    await placeTestOrder(partner);
    expect(await accept(test)).toBe(1);
    expect(await storedStatuses(test)).toEqual(["ACCEPTED", "PROCESSING", "CANCELED", "NEW", "NEW"]);
    expect((await readEvents(test)).slice(0, events.length)).toEqual(events);
    expect(await countRows(test, "events")).toBe(events.length + 1); // Only the creation of the test order.
    expect((await partner.client.get(`/v1/orders/${due.id}`)).body.updatedAt).toBe(
      test.clock.now().toISOString(),
    );
  });

  it("does nothing a moment too early, and nothing a second time", async () => {
    const test = await startServiceForTest();
    await placeOrder(await createPartner(test));
    test.clock.advance({ hours: 2, ms: -1 });
    const early = await dumpTables(test);
    expect(await accept(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(early);
    test.clock.advance({ ms: 1 });
    expect(await accept(test)).toBe(1);
    const done = await dumpTables(test);
    test.clock.advance({ hours: 1 });
    expect(await accept(test)).toBe(0);
    expect(await dumpTables(test)).toEqual(done);
  });

  it("leaves a partner's view as it was: a read showed ACCEPTED before, in the same words", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    const { id } = await placeOrder(partner);
    test.clock.advance({ hours: 3 });
    const before = (await partner.client.get(`/v1/orders/${id}`)).body;
    expect(before).toMatchObject({ status: "ACCEPTED", updatedAt: "2026-03-02T11:00:00.000Z" });
    await accept(test);
    expect((await partner.client.get(`/v1/orders/${id}`)).body).toEqual(before);
  });

  it("accepts every order once when several workers run at the same time", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await copyOrder(test, partner, 1_200);
    test.clock.advance({ hours: 2 });
    const counts = await Promise.all([accept(test), accept(test), accept(test), accept(test)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(1_200);
    expect(new Set(await storedStatuses(test))).toEqual(new Set(["ACCEPTED"]));
  });

  it("lets connections take turns: one order of a quiet one does not wait for thousands of a busy one", async () => {
    const test = await startServiceForTest();
    const [busy, quiet] = [await createPartner(test), await createPartner(test)];
    await placeOrder(busy); // The busy one has waited longer, so it comes first.
    await copyOrder(test, busy, 1_600);
    test.clock.advance({ seconds: 1 });
    await placeOrder(quiet);
    test.clock.advance({ hours: 2 });
    expect(await accept(test)).toBe(1_601);
    // xmin is the number of the transaction that wrote a row, so it tells who was served when.
    const rows = await test.db.query<{ connection_id: string; turn: number }>({
      name: "test-turns",
      text: "select connection_id, dense_rank() over (order by xmin::text::bigint)::integer as turn from orders",
      values: [],
    });
    const turnsOf = ({ connectionId }: Partner) => [
      ...new Set(
        rows.filter((row) => row.connection_id === fromTypeId("con", connectionId)).map(({ turn }) => turn),
      ),
    ];
    expect(turnsOf(quiet)).toEqual([2]);
    expect(turnsOf(busy).length).toBeGreaterThan(2);
  });

  it("is not kept from other connections by one that fails, nor by the order it fails at", async () => {
    const test = await startServiceForTest();
    const [broken, sound] = [await createPartner(test), await createPartner(test)];
    await placeOrder(broken);
    test.clock.advance({ seconds: 1 });
    await placeOrder(sound);
    await refuseChangesOf(test, broken);
    test.clock.advance({ hours: 2 });
    await expect(accept(test)).rejects.toThrow();
    expect(await storedStatuses(test, sound.connectionId)).toEqual(["ACCEPTED"]);
    expect(await storedStatuses(test, broken.connectionId)).toEqual(["NEW"]);
  });
});

/** Makes every change of a connection's orders fail in the database. */
async function refuseChangesOf(test: TestService, { connectionId }: Partner): Promise<void> {
  await test.db.runScript(`
    create function refuse_change() returns trigger language plpgsql as
      $$ begin raise exception 'refused by the test'; end $$;
    create trigger refuse_change before update or delete on orders for each row
      when (old.connection_id = '${fromTypeId("con", connectionId)}') execute function refuse_change();`);
}

describe("erase-test-orders", () => {
  const erase = ({ service }: TestService) => choreNamed("erase-test-orders").run(service);

  it("is not kept from other connections by one that fails", async () => {
    const test = await startServiceForTest();
    const [broken, sound] = [await createPartner(test), await createPartner(test)];
    await placeTestOrder(broken);
    test.clock.advance({ seconds: 1 });
    await placeTestOrder(sound);
    await refuseChangesOf(test, broken);
    test.clock.advance({ hours: 2 });
    await expect(erase(test)).rejects.toThrow();
    expect(await storedStatuses(test, sound.connectionId)).toEqual([]);
    expect(await storedStatuses(test, broken.connectionId)).toEqual(["NEW"]);
  });
});

describe("make-event-partitions", () => {
  async function partitions(test: TestService): Promise<string[]> {
    const rows = await test.db.query<{ name: string }>({
      name: "test-partitions",
      text: "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1",
      values: [],
    });
    return rows.map(({ name }) => name);
  }

  it("makes a partition a day, from the day before to two weeks ahead", async () => {
    const test = await startServiceForTest();
    const before = await partitions(test);
    await choreNamed("make-event-partitions").run(test.service);
    const made = (await partitions(test)).filter((name) => !before.includes(name));
    expect(made).toHaveLength(16);
    expect([made[0], made.at(-1)]).toEqual(["events_20260301", "events_20260316"]);
  });

  it("does nothing a second time, also when many do it at once", async () => {
    const test = await startServiceForTest();
    const { db, clock } = test.service;
    await Promise.all(Array.from({ length: 8 }, () => ensureEventPartitions(db, clock.now())));
    const made = await partitions(test);
    await choreNamed("make-event-partitions").run(test.service);
    expect(await partitions(test)).toEqual(made);
  });
});
