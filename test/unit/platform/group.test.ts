import { describe, expect, it } from "vitest";
import { groupCalls } from "../../../src/platform/database/group.ts";

/** A group that waits until the test ends it. */
function startGroups(besideMin: number) {
  const sizes: number[] = [];
  const end: (() => void)[] = [];
  const call = groupCalls<number, number>({
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

  it("is not waited for when the first has ended: what has gathered goes at once", async () => {
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
});
