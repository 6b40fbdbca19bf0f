import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/platform/database/database.ts";
import {
  type DayTable,
  ensureDayPartitions,
  listPartitions,
} from "../../src/platform/database/day-partitions.ts";
import { createPartner, placeOrder, readEvents } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { isOnCitus } from "../support/plain-postgres.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const drop = (test: TestService) => runJob(test, "drop-old-partitions");
const days = (count: number) => ({ hours: 24 * count });

/** Partitions of the test's own time; those of the real present are far ahead of it. */
async function partitions({ db, clock }: TestService, table: DayTable = "events"): Promise<string[]> {
  const ahead = clock.now().getTime() + 20 * 24 * 3_600_000;
  return (await listPartitions(db, table)).filter(({ to }) => to.getTime() < ahead).map(({ name }) => name);
}

async function tableNames({ db }: TestService, like: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>({
    name: "test-table-names",
    text: "select relname as name from pg_class where relkind = 'r' and relname ilike $1 order by 1",
    values: [like],
  });
  return rows.map(({ name }) => name);
}

/** A transaction that has read the events and does not end: a detach waits for it. */
async function readEventsWithoutEnd({ context }: TestService): Promise<{ end(): Promise<void> }> {
  const db = openDatabase({
    url: context.config.databaseUrl ?? "",
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  const ended = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  const done = db.transaction(async (tx) => {
    await tx.query({ name: "test-read", text: "select id from events", values: [] });
    reading.resolve();
    await ended.promise;
  });
  await reading.promise;
  const end = async () => {
    ended.resolve();
    await done;
  };
  onTestFinished(async () => {
    await end();
    await db.close();
  });
  return { end };
}

/** Waits until the detach waits for another session, and returns its server process. */
async function waitingDetach({ db }: TestService): Promise<number> {
  let pid: number | undefined;
  await expect
    .poll(
      async () => {
        const rows = await db.query<{ pid: number }>({
          name: "test-waiting-detach",
          text: `select pid from pg_stat_activity
                 where datname = current_database() and query like 'alter table%detach%' and wait_event_type = 'Lock'`,
          values: [],
        });
        pid = rows[0]?.pid;
        return pid;
      },
      { interval: 5 },
    )
    .toBeDefined();
  return pid ?? 0;
}

describe("drop-old-partitions", () => {
  it("drops a day's events when the whole day is thirty days past, and nothing younger", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner); // On 2 March.
    test.clock.advance({ hours: 15 });
    await placeOrder(partner); // At midnight, on 3 March.
    const before = await readEvents(test);
    test.clock.advance({ ...days(30), ms: -1 });
    expect(await drop(test)).toBe(2); // 1 March, which had been made for late ids, and its changes.
    expect(await readEvents(test)).toEqual(before);
    test.clock.advance({ ms: 1 });
    expect(await drop(test)).toBe(2);
    expect(await readEvents(test)).toEqual(before.filter(({ timestamp }) => timestamp >= "2026-03-03"));
    expect((await partitions(test))[0]).toBe("events_20260303");
    expect(await drop(test)).toBe(0);
  });

  it("keeps attempts for ninety days", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    test.clock.advance({ ...days(90), hours: 90 * 24 + 15, ms: -1 });
    await drop(test);
    expect((await partitions(test, "attempts"))[0]).toBe("attempts_20260302");
    test.clock.advance({ ms: 1 });
    expect(await drop(test)).toBe(1);
    expect((await partitions(test, "attempts"))[0]).toBe("attempts_20260303");
  });

  it("leaves no table behind", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    test.clock.advance(days(60));
    expect(await drop(test)).toBe(32);
    expect(await tableNames(test, "events_202603%")).toEqual([]);
  });

  it("finds partitions by their bounds, however they are named", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    await test.db.runScript('alter table events_20260302 rename to "Events of the 2nd"');
    test.clock.advance(days(60));
    expect(await drop(test)).toBe(32);
    expect(await tableNames(test, "Events of%")).toEqual([]);
  });

  it("drops partitions that an earlier run had detached, with a name in upper or lower case, and no recent ones", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    await test.db.runScript(`
      alter table events detach partition events_20260302;
      alter table events_20260302 rename to "Events_20260302";
      alter table events detach partition events_20260316;
      create table events_20260102_copy ();
      create table events_2026 ();`);
    test.clock.advance({ ...days(30), hours: 30 * 24 + 15 });
    expect(await drop(test)).toBe(4);
    expect(await tableNames(test, "events_20260302")).toEqual([]);
    expect(await tableNames(test, "events_20260316")).toHaveLength(1);
    expect(await tableNames(test, "events_20260102_copy")).toHaveLength(1);
    expect(await tableNames(test, "events_2026")).toHaveLength(1);
  });

  it("lets orders be placed while it waits for a long read, and finishes next time what was interrupted", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    test.clock.advance(days(60));
    await ensureDayPartitions(test.db, test.clock.now());
    const reader = await readEventsWithoutEnd(test);
    const dropping = drop(test).then(
      () => "done",
      () => "interrupted",
    );
    const pid = await waitingDetach(test);
    await placeOrder(partner);
    await ensureDayPartitions(test.db, test.clock.now()); // Does not fail either.
    await test.db.query({
      name: "test-cancel",
      text: "select pg_cancel_backend($1::integer)",
      values: [pid],
    });
    expect(await dropping).toBe("interrupted");
    const detaching = (await listPartitions(test.db, "events")).filter(({ isDetaching }) => isDetaching);
    expect(detaching).toHaveLength(isOnCitus() ? 0 : 1); // Citus detaches in one step.

    await placeOrder(partner);
    await reader.end();
    expect(await drop(test)).toBe(16);
    expect(await tableNames(test, "events_202603%")).toEqual([]);
    expect(await readEvents(test)).toHaveLength(2);
  });

  it("drops each partition once when several workers do it at the same time", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    test.clock.advance(days(60));
    const counts = await Promise.all(Array.from({ length: 6 }, () => drop(test)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(32);
    expect(await tableNames(test, "events_202603%")).toEqual([]);
  });

  it("does not stop at one table when the other cannot be had", async () => {
    const test = await startServiceForTest();
    await ensureDayPartitions(test.db, test.clock.now());
    // Something depends on the partition, so that it cannot be dropped.
    await test.db.runScript("create view holding_on as select id from events_20260301");
    test.clock.advance(days(120));
    await expect(drop(test)).rejects.toThrow();
    expect(await tableNames(test, "attempts_202603%")).toEqual([]);
    await test.db.runScript("drop view holding_on");
    expect(await drop(test)).toBe(16);
    expect(await tableNames(test, "events_202603%")).toEqual([]);
  });
});
