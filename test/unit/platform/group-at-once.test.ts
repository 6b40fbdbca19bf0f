import { describe, expect, it } from "vitest";
import { groupCalls } from "../../../src/platform/database/group.ts";

/** After the groups of what has been called by now. */
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("a group of as many calls as are enough", () => {
  function startAtOnce() {
    const groups: number[][] = [];
    const end: (() => void)[] = [];
    const call = groupCalls<number, number>({
      name: "test",
      run: (items) => {
        groups.push(items);
        return new Promise((resolve) => end.push(() => resolve(items)));
      },
      sizeMax: 10,
      concurrencyMax: 1,
      atOnce: 3,
    });
    return { call, groups, end };
  }

  it("begins with the last of them, before the next I/O events", () => {
    const { call, groups } = startAtOnce();
    void call(1);
    void call(2);
    expect(groups).toEqual([]);
    void call(3);
    expect(groups).toEqual([[1, 2, 3]]);
  });

  it("does not begin while no more groups may run, and has all that wait by then", async () => {
    const { call, groups, end } = startAtOnce();
    for (const item of [1, 2, 3, 4, 5, 6, 7]) void call(item);
    expect(groups).toEqual([[1, 2, 3]]);
    end[0]?.();
    await turn();
    expect(groups).toEqual([
      [1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  it("leaves a later call no group that never begins", async () => {
    const { call, groups, end } = startAtOnce();
    const calls = [call(1), call(2), call(3)];
    end[0]?.();
    await Promise.all(calls);
    void call(4);
    await turn();
    expect(groups).toEqual([[1, 2, 3], [4]]);
  });
});
