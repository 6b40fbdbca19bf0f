import { describe, expect, it } from "vitest";
import { ConcurrencyLimit, FairQueue } from "../../../src/platform/database/fair-share.ts";

/** Calls that wait, written as owner and number. */
function waitingCalls(...calls: string[]): FairQueue<{ name: string }> {
  const turns = new FairQueue<{ name: string }>();
  for (const name of calls) turns.add(name.slice(0, 1), { name });
  return turns;
}
const names = (calls: readonly { name: string }[] = []) => calls.map(({ name }) => name);
const anyone = () => true;

describe("a group of waiting calls", () => {
  it("contains all of them up to the limit, in the order of each owner", () => {
    const turns = waitingCalls("a1", "a2", "b1");
    expect(names(turns.take(3))).toEqual(["a1", "a2", "b1"]);
    expect([turns.size, turns.countOf("a"), turns.countOf("b")]).toEqual([0, 0, 0]);
  });

  it("contains one of each owner in turn beyond the limit", () => {
    const turns = waitingCalls("a1", "a2", "a3", "a4", "a5", "b1", "c1", "c2");
    expect(names(turns.take(6))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect([turns.size, turns.countOf("a")]).toEqual([2, 2]);
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
    expect(turns.takeOfOne(1, (owner) => owner !== "a")?.owner).toBe("b");
    expect(turns.takeOfOne(1, (owner) => owner === "c")).toBeNull();
    expect(turns.takeOfOne(1, anyone)?.owner).toBe("a");
  });
});

describe("a concurrency limit", () => {
  /** Lets owners begin calls in turn, for as long as any of them may. Returns how many calls of each run. */
  function fill(limit: ConcurrencyLimit, owners: readonly string[]): number[] {
    const used = owners.map(() => 0);
    for (let began = true; began; ) {
      began = false;
      owners.forEach((owner, index) => {
        if (!limit.mayBegin(owner)) return;
        limit.begin(owner);
        used[index] = (used[index] ?? 0) + 1;
        began = true;
      });
    }
    return used;
  }

  it.each<[count: number, owners: number, used: number[]]>([
    [6, 1, [4]],
    [6, 2, [3, 2]],
    [12, 1, [8]],
    [12, 2, [5, 5]],
    [12, 3, [4, 4, 3]],
    [3, 1, [2]],
    [1, 1, [1]],
  ])("of %i, %i owners use %j, and leave the rest to others", (count, owners, used) => {
    const limit = new ConcurrencyLimit(count);
    expect(
      fill(
        limit,
        Array.from({ length: owners }, (_, index) => `owner ${index}`),
      ),
    ).toEqual(used);
  });

  it("are released: when one owner ends a call, another may begin one", () => {
    const limit = new ConcurrencyLimit(3);
    fill(limit, ["a", "b"]);
    expect(limit.mayBegin("c")).toBe(false);
    limit.end("a");
    expect([limit.mayBegin("c"), limit.mayBegin("b")]).toEqual([true, true]);
  });

  it("are all free again at the end", () => {
    const limit = new ConcurrencyLimit(6);
    for (const owner of ["a", "a", "b"]) limit.begin(owner);
    for (const owner of ["a", "b", "a"]) limit.end(owner);
    expect(fill(limit, ["a"])).toEqual([4]);
  });
});
