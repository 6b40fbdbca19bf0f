import pg from "pg";
import { describe, expect, it } from "vitest";
import { groupCalls } from "../../../src/platform/database/group.ts";

describe("a group whose calls cannot be processed alone", () => {
  it("is repeated call by call when it fails, so that only the calls at fault fail", async () => {
    const groups: number[][] = [];
    const call = groupCalls<number, number>({
      name: "test",
      run: async (items) => {
        groups.push(items);
        if (items.includes(2)) throw new pg.DatabaseError("It violates a check.", 0, "error");
        return items.map((item) => item * 10);
      },
      sizeMax: 3,
      concurrencyMax: 1,
    });
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(call));
    expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : null))).toEqual([
      10,
      null,
      30,
      40,
    ]);
    expect(groups).toEqual([[1, 2, 3], [1], [2], [3], [4]]); // The next group waits for them: it takes their slot.
  });
});
