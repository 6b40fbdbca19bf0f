import { describe, expect, it } from "vitest";
import { ConcurrencyLimit, FairQueue, hasTooMany } from "../../../src/platform/database/fair-share.ts";

/** An owner, written as merchant and connection: `a` is the only connection of its merchant, `Mb` one of several of `M`. */
const owner = (name: string) => ({ merchantId: name.slice(0, 1), connectionId: name });

/** Calls that wait, written as owner and number. */
function waitingCalls(...calls: string[]): FairQueue<{ name: string }> {
  const turns = new FairQueue<{ name: string }>();
  for (const name of calls) turns.add(owner(name.slice(0, -1)), { name });
  return turns;
}
const names = (calls: readonly { name: string }[] = []) => calls.map(({ name }) => name);
const anyone = { mayBegin: () => true, mayMerchantBegin: () => true };

describe("a group of waiting calls", () => {
  it("contains all of them up to the limit, in the order of each owner", () => {
    const turns = waitingCalls("a1", "a2", "b1");
    expect(names(turns.take(3))).toEqual(["a1", "a2", "b1"]);
    expect([turns.size, turns.countOf(owner("a")), turns.countOf(owner("b"))]).toEqual([0, 0, 0]);
  });

  it("contains one of each owner in turn beyond the limit", () => {
    const turns = waitingCalls("a1", "a2", "a3", "a4", "a5", "b1", "c1", "c2");
    expect(names(turns.take(6))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect([turns.size, turns.countOf(owner("a"))]).toEqual([2, 2]);
    expect(names(turns.take(6))).toEqual(["a4", "a5"]);
  });

  it("is full with the calls of a single owner while no other waits", () => {
    expect(names(waitingCalls("a1", "a2", "a3").take(2))).toEqual(["a1", "a2"]);
  });

  it("begins with the owner that was not served last", () => {
    const turns = waitingCalls("a1", "a2", "a3", "b1", "b2", "b3");
    expect(names(turns.take(3))).toEqual(["a1", "b1", "a2"]);
    expect(names(turns.take(2))).toEqual(["b2", "a3"]);
  });
});

describe("calls of one owner at a time", () => {
  it("are those of the owner in turn, at most as many as requested", () => {
    const turns = waitingCalls("a1", "a2", "a3", "b1");
    const next = () => turns.takeOfOne(2, anyone);
    expect([next(), next(), next(), next()].map((taken) => taken && names(taken.calls))).toEqual([
      ["a1", "a2"],
      ["b1"],
      ["a3"],
      null,
    ]);
    expect(turns.size).toBe(0);
  });

  it("skip an owner that may not be served, which keeps its turn", () => {
    const turns = waitingCalls("a1", "b1", "b2");
    const only = (...may: string[]) => ({
      mayMerchantBegin: () => true,
      mayBegin: ({ connectionId }: { connectionId: string }) => may.includes(connectionId),
    });
    expect(turns.takeOfOne(1, only("b", "c"))?.owner).toEqual(owner("b"));
    expect(turns.takeOfOne(1, only("c"))).toBeNull();
    expect(turns.takeOfOne(1, anyone)?.owner).toEqual(owner("a"));
  });
});

describe("the turns of merchants", () => {
  it("come first, then those of the connections of each", () => {
    const turns = waitingCalls("Ma1", "Ma2", "Mb1", "Mc1", "x1", "x2");
    expect(names(turns.take(5))).toEqual(["Ma1", "x1", "Mb1", "x2", "Mc1"]);
    expect(names(turns.take(5))).toEqual(["Ma2"]);
  });

  it("are not more for one with three hundred connections", () => {
    const many = Array.from({ length: 300 }, (_, index) => `M-${index}-1`);
    const taken = names(waitingCalls(...many, "x1", "x2", "x3").take(6));
    expect(taken.filter((name) => name.startsWith("x"))).toEqual(["x1", "x2", "x3"]);
  });

  it("are kept by one that may not begin a call, with the turns of its connections", () => {
    const turns = waitingCalls("Ma1", "Mb1", "x1");
    const notM = { ...anyone, mayMerchantBegin: (merchantId: string) => merchantId !== "M" };
    expect(turns.takeOfOne(1, notM)?.owner).toEqual(owner("x"));
    expect(turns.takeOfOne(1, notM)).toBeNull();
    expect(turns.takeOfOne(1, anyone)?.owner).toEqual(owner("Ma"));
    expect(turns.takeOfOne(1, anyone)?.owner).toEqual(owner("Mb"));
    expect(turns.size).toBe(0);
  });

  it("keep their order over many thousands of calls", () => {
    const turns = new FairQueue<{ name: string }>();
    const served: string[] = [];
    for (let count = 0; count < 5_000; count += 1) {
      for (const name of ["Ma", "Mb", "x"]) turns.add(owner(name), { name });
      served.push(...names(turns.take(2)));
    }
    expect(served.slice(-4)).toEqual(["Ma", "x", "Mb", "x"]);
    expect(turns.size).toBe(5_000);
  });
});

describe("calls that wait", () => {
  it("are at most 4,000 of a connection, and 5,000 of all connections of a merchant", () => {
    const turns = new FairQueue<{ name: string }>();
    const add = (name: string, count: number) => {
      for (let added = 0; added < count; added += 1) turns.add(owner(name), { name });
    };
    add("Ma", 3_999);
    expect(hasTooMany(turns, owner("Ma"))).toBe(false);
    add("Ma", 1);
    expect(hasTooMany(turns, owner("Ma"))).toBe(true);
    expect(hasTooMany(turns, owner("Mb"))).toBe(false);
    add("Mb", 1_000);
    expect(hasTooMany(turns, owner("Mc"))).toBe(true);
    expect(hasTooMany(turns, owner("x"))).toBe(false);
  });
});

describe("a concurrency limit", () => {
  /** Lets owners begin calls in turn, for as long as any of them may. Returns how many calls of each run. */
  function fill(limit: ConcurrencyLimit, owners: readonly string[]): number[] {
    const used = owners.map(() => 0);
    for (let began = true; began; ) {
      began = false;
      owners.forEach((name, index) => {
        if (!limit.mayBegin(owner(name))) return;
        limit.begin(owner(name));
        used[index] = (used[index] ?? 0) + 1;
        began = true;
      });
    }
    return used;
  }

  it.each<[count: number, owners: string[], used: number[]]>([
    [7, ["a"], [4]],
    [7, ["a", "b"], [3, 2]],
    [7, ["Ma", "Mb"], [3, 2]],
    [7, ["Ma", "Mb", "Mc", "Md", "Me", "Mf"], [1, 1, 1, 1, 1, 0]],
    [7, ["Ma", "Mb", "Mc", "x", "y"], [2, 1, 1, 1, 1]],
    [6, ["Ma"], [3]],
    [6, ["Ma", "Mb"], [2, 2]],
    [4, ["a"], [2]],
    [4, ["Ma", "Mb"], [2, 1]],
    [3, ["a"], [2]],
    [3, ["Ma", "Mb"], [1, 1]],
    [1, ["a"], [1]],
  ])("of %i: %j use %j, and leave the rest to other merchants", (count, owners, used) => {
    expect(fill(new ConcurrencyLimit(count), owners)).toEqual(used);
  });

  it("leaves some to a further connection of a merchant, and then to a further merchant", () => {
    const limit = new ConcurrencyLimit(7);
    expect(fill(limit, ["Ma"])).toEqual([4]);
    expect(fill(limit, ["Mb"])).toEqual([1]);
    expect(fill(limit, ["Mc"])).toEqual([0]);
    expect(fill(limit, ["x"])).toEqual([1]);
  });

  it("are released: when one owner ends a call, another may begin one", () => {
    const limit = new ConcurrencyLimit(3);
    fill(limit, ["a", "b"]);
    limit.begin(owner("c"));
    expect(limit.mayBegin(owner("d"))).toBe(false);
    limit.end(owner("a"));
    expect([limit.mayBegin(owner("d")), limit.mayBegin(owner("b"))]).toEqual([true, false]);
  });

  it("are all free again at the end", () => {
    const limit = new ConcurrencyLimit(7);
    for (const name of ["Ma", "Ma", "Mb"]) limit.begin(owner(name));
    for (const name of ["Ma", "Mb", "Ma"]) limit.end(owner(name));
    expect(fill(limit, ["Ma"])).toEqual([4]);
  });
});
