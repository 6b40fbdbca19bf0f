import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WAITING_CALLS_MAX } from "../../../src/platform/database/fair-share.ts";
import { groupCalls } from "../../../src/platform/database/group.ts";

/** A group that waits until the test ends it. */
function startGroups(besideMin: number | "as-many") {
  const sizes: number[] = [];
  const end: (() => void)[] = [];
  const call = groupCalls<number, number>({
    name: "test",
    run: (items) => {
      sizes.push(items.length);
      return new Promise((resolve) => end.push(() => resolve(items)));
    },
    sizeMax: 10,
    concurrencyMax: 2,
    besideMin,
  });
  return { call, sizes, end };
}

/** After the groups of what has been called by now. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("a group that has ended", () => {
  it("leaves its calls until the next group is sent", async () => {
    const steps: string[] = [];
    const end: (() => void)[] = [];
    const call = groupCalls<number, number>({
      name: "test",
      run: async (items) => {
        for (let step = 0; step < 20; step += 1) await null; // Until a statement is written.
        steps.push(`send ${items}`);
        await new Promise<void>((resolve) => end.push(resolve));
        return items;
      },
      sizeMax: 10,
      concurrencyMax: 1,
    });
    const first = call(1).then(() => steps.push("1 continues"));
    await turn();
    const second = call(2).then(() => steps.push("2 continues"));
    await turn();
    end[0]?.();
    await first;
    await turn();
    end[1]?.();
    await second;
    expect(steps).toEqual(["send 1", "send 2", "1 continues", "2 continues"]);
  });
});

describe("groups with a space between them", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  /** Each group ends at once. */
  function startSpaced() {
    const groups: number[][] = [];
    const call = groupCalls<number, number>({
      name: "test",
      run: async (items) => {
        groups.push(items);
        return items;
      },
      sizeMax: 10,
      concurrencyMax: 1,
      spacing: { ms: 15, unlessWaiting: 3 },
    });
    return { call, groups };
  }

  it("begin so long after each other, with all calls that have arrived until then", async () => {
    const { call, groups } = startSpaced();
    await call(1);
    vi.advanceTimersByTime(5);
    void call(2);
    await turn();
    vi.advanceTimersByTime(9);
    void call(3);
    await turn();
    expect(groups).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await turn();
    expect(groups).toEqual([[1], [2, 3]]);
  });

  it("begin at once for a call that arrives later", async () => {
    const { call, groups } = startSpaced();
    await call(1);
    vi.advanceTimersByTime(15);
    await call(2);
    expect(groups).toEqual([[1], [2]]);
  });

  it("begin sooner when enough calls wait", async () => {
    const { call, groups } = startSpaced();
    await call(1);
    void call(2);
    await turn();
    await Promise.all([call(3), call(4)]);
    expect(groups).toEqual([[1], [2, 3, 4]]);
  });
});

describe("a second group beside one that is at the database", () => {
  it("begins with as many calls as it takes, and not with fewer", async () => {
    const { call, sizes } = startGroups(3);
    void call(1);
    await turn();
    void call(2);
    void call(3);
    await turn();
    expect(sizes).toEqual([1]);
    void call(4);
    await turn();
    expect(sizes).toEqual([1, 3]);
  });

  it("begins when as many calls wait as the first has, and not with fewer", async () => {
    const { call, sizes } = startGroups("as-many");
    for (const item of [1, 2, 3]) void call(item);
    await turn();
    for (const item of [4, 5]) void call(item);
    await turn();
    expect(sizes).toEqual([3]);
    void call(6);
    await turn();
    expect(sizes).toEqual([3, 3]);
  });

  it("begins at once beside a single call", async () => {
    const { call, sizes } = startGroups("as-many");
    void call(1);
    await turn();
    void call(2);
    await turn();
    expect(sizes).toEqual([1, 1]);
  });

  it("begins when as many calls wait as a group takes, if the first is that large", async () => {
    const { call, sizes } = startGroups("as-many");
    for (let item = 0; item < 12; item += 1) void call(item);
    await turn();
    expect(sizes).toEqual([10]);
    for (let item = 12; item < 20; item += 1) void call(item);
    await turn();
    expect(sizes).toEqual([10, 10]);
  });

  it("is not delayed when the first has ended: waiting calls run at once", async () => {
    const { call, sizes, end } = startGroups(3);
    const first = call(1);
    await turn();
    void call(2);
    await turn();
    end[0]?.();
    await first;
    await turn();
    expect(sizes).toEqual([1, 1]);
  });

  it("is compared with the groups that have not ended", async () => {
    const { call, sizes, end } = startGroups("as-many");
    const first = [1, 2, 3].map(call);
    await turn();
    void call(4);
    await turn();
    expect(sizes).toEqual([3]);
    end[0]?.();
    await Promise.all(first);
    await turn();
    void call(5);
    await turn();
    expect(sizes).toEqual([3, 1, 1]);
  });
});

/** A connection that is the only one of its merchant. */
const ownerOf = (item: string) => ({ merchantId: item.slice(0, 1), connectionId: item.slice(0, 1) });

/** Calls of connections, written as connection and number, in groups of at most four. Each group fails by `failure`. */
function startFairGroups(failure: (items: string[]) => Error | null, failAlone = false) {
  const groups: string[][] = [];
  const alone: string[] = [];
  const call = groupCalls<string, string>({
    name: "test",
    run: async (items) => {
      groups.push(items);
      const error = failure(items);
      if (error !== null) throw error;
      return items;
    },
    sizeMax: 4,
    concurrencyMax: 1,
    ownerOf,
    runAlone: async (item) => {
      alone.push(item);
      if (failAlone && item.startsWith("a")) throw new Error("It cannot be stored.");
      return item;
    },
  });
  return { call, groups, alone };
}

const databaseError = (code: string): Error =>
  Object.assign(new pg.DatabaseError("It failed.", 0, "error"), { code });
const timedOut = databaseError("57014");
const withA = (items: string[]) => (items.some((item) => item.startsWith("a")) ? timedOut : null);

describe("a group of several connections", () => {
  it("has a call of each connection before it has a second one of any, if more wait than it takes", async () => {
    const { call, groups } = startFairGroups(() => null);
    await Promise.all(["a1", "a2", "a3", "a4", "a5", "b1", "c1"].map(call));
    expect(groups).toEqual([
      ["a1", "b1", "c1", "a2"],
      ["a3", "a4", "a5"],
    ]);
  });

  it("that runs out of time is processed again, each of its calls alone", async () => {
    const { call, groups, alone } = startFairGroups(withA);
    expect(await Promise.all(["a1", "b1", "c1"].map(call))).toEqual(["a1", "b1", "c1"]);
    expect([groups, alone]).toEqual([[["a1", "b1", "c1"]], ["a1", "b1", "c1"]]);
  });

  it("that fails does not include the connection that failed alone again for a while", async () => {
    const { call, groups, alone } = startFairGroups(withA, true);
    const [first] = await Promise.allSettled(["a1", "b1"].map(call));
    expect(first).toMatchObject({ status: "rejected", reason: { message: "It cannot be stored." } });
    const [next] = await Promise.allSettled(["a2", "b2"].map(call));
    expect(next).toMatchObject({ status: "rejected" });
    expect(groups).toEqual([["a1", "b1"], ["b2"]]);
    expect(alone).toEqual(["a1", "b1", "a2"]);
  });

  it("of one call that ran out of time is processed alone, where it has more time", async () => {
    const { call, alone } = startFairGroups(withA);
    expect(await call("a1")).toBe("a1");
    expect(alone).toEqual(["a1"]);
  });

  it("is not processed again when the database is out of reach", async () => {
    const { call, alone } = startFairGroups(() => databaseError("57P01"));
    const outcomes = await Promise.allSettled(["a1", "b1"].map(call));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(alone).toEqual([]);
  });
});

describe("groups of one connection each", () => {
  it("never use the whole concurrency, so that a connection whose groups do not end delays no other", async () => {
    const groups: string[][] = [];
    const call = groupCalls<string, string>({
      name: "test",
      run: (items) => {
        groups.push(items);
        return items[0]?.startsWith("a") ? new Promise(() => undefined) : Promise.resolve(items);
      },
      sizeMax: 4,
      concurrencyMax: 3,
      ownerOf,
      oneOwnerEach: true,
    });
    for (const item of ["a1", "a2", "a3"]) {
      void call(item);
      await turn();
    }
    expect(await Promise.all(["b1", "b2", "c1"].map(call))).toEqual(["b1", "b2", "c1"]);
    expect(groups).toEqual([["a1"], ["a2"], ["b1", "b2"], ["c1"]]);
  });
});

it("a connection with more waiting calls than it may have is limited, and no other", async () => {
  const call = groupCalls<string, string>({
    name: "test",
    run: () => new Promise(() => undefined),
    sizeMax: 1,
    concurrencyMax: 1,
    ownerOf,
  });
  let limited = 0;
  for (let count = 0; count < WAITING_CALLS_MAX + 10; count += 1) call("a").catch(() => (limited += 1));
  let othersLimited = 0;
  call("b").catch(() => (othersLimited += 1));
  await turn();
  expect([limited, othersLimited]).toEqual([10, 0]);
});
