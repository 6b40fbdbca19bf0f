import { describe, expect, it, vi } from "vitest";
import { inTransaction } from "../../src/platform/context.ts";
import {
  DAY_TABLES,
  ensureDayPartitions,
  listPartitions,
  partitionsAheadMs,
} from "../../src/platform/database/day-partitions.ts";
import { countRows } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const HOUR_MS = 3_600_000;
const makePartitions = (test: TestService) => runJob(test, "make-partitions");

/** A year after the days for which the template of Citus has partitions. */
async function startLater(): Promise<TestService> {
  const test = await startServiceForTest();
  test.clock.advance({ hours: 365 * 24 });
  return test;
}

describe("an attempt of a day without a partition", () => {
  it("makes it, and is stored", async () => {
    const test = await startLater();
    const { context, clock } = test;
    await inTransaction(context, (tx) =>
      tx.query({
        name: "test-insert-attempt",
        text: `
          insert into attempts (merchant_id, id, delivery_id, trigger, started_at, error)
          values ($1, $2, $3, 'schedule', $4, 'rejected')`,
        values: [context.newId(), context.newId(), context.newId(), clock.now()],
      }),
    );
    expect(await countRows(test, "attempts")).toBe(1);
    expect(await countRows(test, "attempts_20270302")).toBe(1);
  });
});

describe.each(DAY_TABLES)("make-partitions of %s", (table) => {
  const partitions = async ({ db }: TestService): Promise<string[]> =>
    (await listPartitions(db, table)).map(({ name }) => name);

  it("makes a partition a day, from the day before to two weeks ahead", async () => {
    const test = await startLater();
    const before = await partitions(test);
    await makePartitions(test);
    const made = (await partitions(test)).filter((name) => !before.includes(name));
    expect(made).toHaveLength(16);
    expect([made[0], made.at(-1)]).toEqual([`${table}_20270301`, `${table}_20270316`]);
  });

  it("does nothing a second time, also when many do it at once", async () => {
    const test = await startLater();
    const { db, clock } = test.context;
    await Promise.all(Array.from({ length: 8 }, () => ensureDayPartitions(db, clock.now())));
    const made = await partitions(test);
    await makePartitions(test);
    expect(await partitions(test)).toEqual(made);
  });

  it("raises the alarm when less than two days are made ahead, and only then", async () => {
    const test = await startLater();
    const alarm = vi.spyOn(test.context.log, "error");
    await makePartitions(test);
    expect(alarm).not.toHaveBeenCalled();
    // A stranger's table has the name of the next partition, so that cannot be made.
    await test.db.runScript(`create table ${table}_20270317 ()`);
    test.clock.advance({ hours: 24 * 12 + 15 });
    await makePartitions(test);
    expect(alarm).not.toHaveBeenCalled();
    test.clock.advance({ ms: 1 });
    await makePartitions(test);
    expect(alarm).toHaveBeenCalledTimes(1);
    expect(alarm.mock.calls[0]).toEqual([{ table, aheadHours: 47 }, expect.stringMatching(/partitions/)]);
  });

  it("counts what is ahead up to the first gap, and nothing without a partition for now", async () => {
    const test = await startLater();
    const ahead = () => partitionsAheadMs(test.db, table, test.clock.now());
    expect(await ahead()).toBe(0);
    await makePartitions(test);
    expect(await ahead()).toBe((14 * 24 + 15) * HOUR_MS);
    await test.db.runScript(`drop table ${table}_20270305`);
    expect(await ahead()).toBe((2 * 24 + 15) * HOUR_MS);
  });
});
