import { describe, expect, it, vi } from "vitest";
import { CHORES, startWorker } from "../../src/app/worker.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { storedStatuses } from "../support/chores.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** Waits until a condition holds, and fails when it does not in good time. */
const until = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, { timeout: 10_000, interval: 5 }).toBe(true);

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
    const worker = startWorker(test.context, createMetrics(), chores);
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
    const worker = startWorker(test.context, metrics, [
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
    const worker = startWorker(test.context, metrics, [{ name: "recovers", everyMs: 1, run }]);
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

  it("stop does not wait for the next turn of a chore that rests", async () => {
    const test = await startServiceForTest();
    let rounds = 0;
    const run = async () => {
      rounds += 1;
      return 1;
    };
    const worker = startWorker(test.context, createMetrics(), [{ name: "rare", everyMs: 3_600_000, run }]);
    await until(() => rounds === 1);
    await worker.stop(); // The test would time out if this waited.
    expect(rounds).toBe(1);
  });

  it("stop may be called twice, and before the first round has ended", async () => {
    const test = await startServiceForTest();
    const worker = startWorker(test.context, createMetrics());
    await Promise.all([worker.stop(), worker.stop()]);
  });

  it("by itself accepts what is due and erases what has expired", async () => {
    const test = await startServiceForTest();
    const partner = await createPartner(test);
    await placeOrder(partner);
    await placeTestOrder(partner);
    test.clock.advance({ hours: 2 });
    const worker = startWorker(test.context, createMetrics());
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
    const worker = startWorker(test.context, metrics, quick);
    await until(() => failed.mock.calls.length >= 4);
    await test.db.runScript("alter table orders_away rename to orders");
    await until(async () => (await storedStatuses(test)).join() === "ACCEPTED");
    await worker.stop();
  });
});
