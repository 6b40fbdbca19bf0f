import { describe, expect, it } from "vitest";
import type { Database } from "../../src/platform/database/database.ts";
import { eachUntilDone, listedEachPass, runInTurn } from "../../src/platform/run-in-turn.ts";
import { startServiceForTest } from "../support/test-service.ts";

/** Runs one batch of each key, the first of which gets an error from the database. Returns the keys that had a batch. */
async function batchesPast(fail: (db: Database) => Promise<unknown>): Promise<string[]> {
  const { db } = await startServiceForTest();
  const batches: string[] = [];
  const run = runInTurn(eachUntilDone(["first", "second"]), async (key) => {
    batches.push(key);
    if (key === "first") await fail(db);
    return 0;
  });
  await expect(run).rejects.toThrow();
  return batches;
}

const raising = (sqlState: string): string =>
  `do $$ begin raise exception 'trouble' using errcode = '${sqlState}'; end $$`;

/**
 * Runs keys that are listed in each pass. Each has `count` batches to do, from the given pass on. Returns the batches.
 */
async function batchesOf(work: Record<string, { from: number; count: number }>): Promise<string[]> {
  const left = new Map(Object.entries(work));
  const batches: string[] = [];
  let passes = 0;
  await runInTurn(
    listedEachPass(async () => {
      passes += 1;
      return [...left].filter(([, { from, count }]) => from <= passes && count > 0).map(([key]) => key);
    }),
    async (key) => {
      batches.push(key);
      const due = left.get(key);
      if (due !== undefined) due.count -= 1;
      return 1;
    },
  );
  return batches;
}

describe("a run", () => {
  it("does one batch of each key in a pass, and a key that becomes due joins the next pass", async () => {
    const work = {
      busy: { from: 1, count: 4 },
      other: { from: 1, count: 1 },
      late: { from: 3, count: 1 },
    };
    expect(await batchesOf(work)).toEqual(["busy", "other", "busy", "busy", "late", "busy"]);
  });

  it("repeats fixed keys, each until it has nothing left to do", async () => {
    const batchesLeft = new Map([
      ["busy", 2],
      ["idle", 0],
    ]);
    const batches: string[] = [];
    const run = runInTurn(eachUntilDone(["busy", "idle"]), async (key) => {
      batches.push(key);
      const left = batchesLeft.get(key) ?? 0;
      batchesLeft.set(key, left - 1);
      return Math.max(0, left);
    });
    expect(await run).toBe(2 + 1);
    expect(batches).toEqual(["busy", "idle", "busy", "busy"]);
  });

  it("ends after a pass that did nothing, even if keys are still listed", async () => {
    let batches = 0;
    const run = runInTurn(
      listedEachPass(async () => ["locked by another worker"]),
      async () => {
        batches += 1;
        return 0;
      },
    );
    expect([await run, batches]).toEqual([0, 1]);
  });

  it("gives a key whose batch failed no further batch, does not continue for it, and throws its error", async () => {
    const batches: string[] = [];
    const run = runInTurn(
      listedEachPass(async () => ["broken", "sound"]),
      async (key) => {
        batches.push(key);
        if (key === "broken") throw new Error("broken");
        return batches.length < 5 ? 1 : 0;
      },
    );
    await expect(run).rejects.toMatchObject({ errors: [{ message: "broken" }] });
    expect(batches).toEqual(["broken", "sound", "sound", "sound", "sound"]);
  });

  it("recognizes a failed key that later passes list as another object", async () => {
    const batches: string[] = [];
    const run = runInTurn(
      listedEachPass(async () => [{ connectionId: "broken" }, { connectionId: "sound" }]),
      async ({ connectionId }) => {
        batches.push(connectionId);
        if (connectionId === "broken") throw new Error("broken");
        return batches.length < 5 ? 1 : 0;
      },
    );
    await expect(run).rejects.toMatchObject({ errors: [{ message: "broken" }] });
    expect(batches).toEqual(["broken", "sound", "sound", "sound", "sound"]);
  });

  it("throws at its end what batches skipped, and continues with their keys until then", async () => {
    let batches = 0;
    const run = runInTurn(
      listedEachPass(async () => ["key"]),
      async (_key, failures) => {
        batches += 1;
        if (batches === 1) failures.push(new Error("a single row"));
        return batches < 3 ? 1 : 0;
      },
    );
    await expect(run).rejects.toMatchObject({ errors: [{ message: "a single row" }] });
    expect(batches).toBe(3);
  });

  it("ends, and throws what failed, although one key always has more to do", async () => {
    const run = runInTurn(
      listedEachPass(async () => ["broken", "endless"]),
      async (key) => {
        if (key === "broken") throw new Error("broken");
        return 1;
      },
    );
    await expect(run).rejects.toMatchObject({ errors: [{ message: "broken" }] });
  });

  it("finishes what it has begun, after a pass that did nothing and after many batches", async () => {
    const passes: boolean[] = [];
    const run = runInTurn(
      listedEachPass(
        async (isLong) => {
          passes.push(isLong);
          return Array.from({ length: 600 }, (_, index) => index);
        },
        () => passes.length < 4,
      ),
      async () => 0,
    );
    expect(await run).toBe(0);
    expect(passes).toEqual([false, false, true, true]);
  });

  it("ends after the current batch when it is stopped", async () => {
    const stopping = new AbortController();
    const batches: string[] = [];
    const run = runInTurn(
      eachUntilDone(["first", "second"]),
      async (key) => {
        batches.push(key);
        stopping.abort();
        return 3;
      },
      stopping.signal,
    );
    expect([await run, batches]).toEqual([3, ["first"]]);
  });
});

describe("an error of the database", () => {
  it.each([
    ["a statement that took too long", "57014"],
    ["a deadlock", "40P01"],
    ["a serialization failure", "40001"],
    ["a lock that was not available in time", "55P03"],
    ["a row that cannot be stored", "23505"],
    ["a node of a distributed database that the server cannot reach", "08006"],
  ])("does not keep other keys from their batches: %s", async (_title, sqlState) => {
    expect(await batchesPast((db) => db.runScript(raising(sqlState)))).toEqual(["first", "second"]);
  });

  it("ends the run at once if all keys would meet it: no connection is free", async () => {
    expect(await batchesPast((db) => db.runScript(raising("53300")))).toEqual(["first"]);
  });

  it("ends the run at once if all keys would meet it: the database shuts down", async () => {
    const end = (db: Database) => db.runScript("select pg_terminate_backend(pg_backend_pid())");
    expect(await batchesPast(end)).toEqual(["first"]);
  });

  it("ends the run at once when nothing listens at the address of the database", async () => {
    const batches: string[] = [];
    const run = runInTurn(eachUntilDone(["first", "second"]), async (key) => {
      batches.push(key);
      throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
    });
    await expect(run).rejects.toThrow("ECONNREFUSED");
    expect(batches).toEqual(["first"]);
  });
});
