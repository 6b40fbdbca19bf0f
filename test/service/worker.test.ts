import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { JOBS } from "../../src/service/jobs.ts";
import { startWorker } from "../../src/service/worker.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { storedStatuses } from "../support/jobs.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** Waits until a condition holds. */
const until = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, { interval: 5 }).toBe(true);

describe("startWorker", () => {
  it("runs every job again and again", async () => {
    const test = await startServiceForTest();
    const runs = { one: 0, two: 0 };
    const jobs = (["one", "two"] as const).map((name) => ({
      name,
      everyMs: 1,
      run: async () => {
        runs[name] += 1;
        return 1;
      },
    }));
    const worker = startWorker(test.context, createMetrics(), jobs);
    await until(() => runs.one >= 3 && runs.two >= 3);
    await worker.stop();
  });

  it("runs a failing job again, and does not stop the others", async () => {
    const test = await startServiceForTest();
    const metrics = createMetrics();
    const failed = vi.spyOn(metrics, "jobFailed");
    const done = vi.spyOn(metrics, "jobDone");
    const fail = (): never => {
      throw new Error("This job always fails.");
    };
    const worker = startWorker(test.context, metrics, [
      { name: "throws", everyMs: 1, run: fail },
      { name: "rejects", everyMs: 1, run: async () => fail() },
      { name: "works", everyMs: 1, run: async () => 7 },
    ]);
    const failures = (name: string) => failed.mock.calls.filter(([job]) => job === name).length;
    await until(() => failures("throws") >= 3 && failures("rejects") >= 3 && done.mock.calls.length >= 3);
    await worker.stop();
    expect(new Set(done.mock.calls.map(([name, count]) => `${name} ${count}`))).toEqual(new Set(["works 7"]));
  });

  it("writes one line of each job that fails all the time, not one of each run", async () => {
    const test = await startServiceForTest();
    const lines: { job: string; count: number; err: { message: string } }[] = [];
    const log = createLog("error", { write: (line) => void lines.push(JSON.parse(line)) });
    const runs = { one: 0, two: 0 };
    const jobs = (["one", "two"] as const).map((name) => ({
      name,
      everyMs: 1,
      run: async () => {
        runs[name] += 1;
        throw new Error(`${name} always fails.`);
      },
    }));
    const worker = startWorker({ ...test.context, log }, createMetrics(), jobs);
    await until(() => runs.one >= 20 && runs.two >= 20);
    await worker.stop();
    expect(lines.map(({ job, count, err }) => [job, count, err.message])).toEqual([
      ["one", 1, "one always fails."],
      ["two", 1, "two always fails."],
    ]);
  });

  it("warns of a database that is away for a moment, and reports an error if that lasts", async () => {
    const test = await startServiceForTest();
    const lines: { level: string; msg: string }[] = [];
    const log = createLog("warn", { write: (line) => void lines.push(JSON.parse(line)) });
    const run = async () => {
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const worker = startWorker({ ...test.context, log }, createMetrics(), [
      { name: "one", everyMs: 1_000, run },
      { name: "two", everyMs: 1_000, run },
    ]);
    const levels = () => lines.map(({ level }) => level);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(levels()).toEqual(["warn"]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(levels()).toEqual(["warn", "error"]);
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(
      new Set(["database unavailable, jobs will run again"]),
    );
    const stopped = worker.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;
  });

  it("continues with a job that succeeds after failures", async () => {
    const test = await startServiceForTest();
    let runs = 0;
    const run = async () => {
      runs += 1;
      if (runs <= 2) throw new Error("Not yet.");
      return runs;
    };
    const metrics = createMetrics();
    const done = vi.spyOn(metrics, "jobDone");
    const worker = startWorker(test.context, metrics, [{ name: "recovers", everyMs: 1, run }]);
    await until(() => done.mock.calls.length > 0);
    await worker.stop();
    expect(done.mock.calls[0]).toEqual(["recovers", 3]);
  });

  it("stop waits for the current run and starts no further run", async () => {
    const test = await startServiceForTest();
    let started = 0;
    let finish = () => {};
    const run = () => {
      started += 1;
      return new Promise<number>((resolve) => {
        finish = () => resolve(1);
      });
    };
    const worker = startWorker(test.context, createMetrics(), [{ name: "slow", everyMs: 0, run }]);
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

  it("stop does not wait for the next run of a job that pauses", async () => {
    const test = await startServiceForTest();
    let runs = 0;
    const run = async () => {
      runs += 1;
      return 1;
    };
    const worker = startWorker(test.context, createMetrics(), [{ name: "rare", everyMs: 3_600_000, run }]);
    await until(() => runs === 1);
    await worker.stop(); // The test would time out if this waited.
    expect(runs).toBe(1);
  });

  it("runNow runs all jobs without their pause, each after the run that is in progress", async () => {
    const test = await startServiceForTest();
    const finish: ((count: number) => void)[] = [];
    const slow = () => new Promise<number>((resolve) => finish.push(resolve));
    const fail = async () => {
      throw new Error("This job always fails.");
    };
    const worker = startWorker(test.context, createMetrics(), [
      { name: "rare", everyMs: 3_600_000, run: async () => 2 },
      { name: "fails", everyMs: 3_600_000, run: fail },
      { name: "slow", everyMs: 3_600_000, run: slow },
    ]);
    await until(() => finish.length === 1);
    const ran = worker.runNow();
    finish[0]?.(10); // Of the run that had begun: it may have read the time before.
    await until(() => finish.length === 2);
    finish[1]?.(3);
    expect(await ran).toBe(5);
    await worker.stop();
    expect(await worker.runNow()).toBe(0);
  });

  it("stop may be called twice, and before the first run has ended", async () => {
    const test = await startServiceForTest();
    const worker = startWorker(test.context, createMetrics());
    await Promise.all([worker.stop(), worker.stop()]);
  });

  it("accepts orders that are due and erases test orders that have expired", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    const worker = startWorker(test.context, createMetrics());
    await until(async () => (await storedStatuses(test)).join() === "ACCEPTED");
    await worker.stop();
  });

  it("continues after the database has failed for a while", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    test.clock.advance({ hours: 2 });
    await test.db.runScript("alter table orders rename to orders_away");
    const metrics = createMetrics();
    const failed = vi.spyOn(metrics, "jobFailed");
    const quick = JOBS.map((job) => ({ ...job, everyMs: 5 }));
    const worker = startWorker(test.context, metrics, quick);
    await until(() => failed.mock.calls.length >= 4);
    await test.db.runScript("alter table orders_away rename to orders");
    await until(async () => (await storedStatuses(test)).join() === "ACCEPTED");
    await worker.stop();
  });
});
