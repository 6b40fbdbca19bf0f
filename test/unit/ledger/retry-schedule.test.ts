import { describe, expect, it } from "vitest";
import { plannedAfter } from "../../../src/ledger/ledger.ts";
import { NOW } from "../../support/ledger-entries.ts";

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

/** When the next attempt is planned, if the attempts so far were declined at these times. In seconds. */
function planned(waits: readonly number[], ...declinedAt: readonly number[]): number | null {
  const attempts = [-5, ...declinedAt.slice(0, -1)].map((seconds) => ({ createdAt: at(seconds) }));
  const next = plannedAfter(
    attempts,
    waits.map((seconds) => seconds * 1_000),
    at(declinedAt.at(-1) ?? 0),
  );
  return next === null ? null : (next.getTime() - NOW.getTime()) / 1_000;
}

describe("the schedule of attempts", () => {
  it("has an interval after each attempt in turn, which begins when that attempt was declined", () => {
    expect(planned([10, 60, 300], 0)).toBe(10);
    expect(planned([10, 60, 300], 0, 10)).toBe(70);
    expect(planned([10, 60, 300], 0, 25, 90)).toBe(390);
    expect(planned([10, 60, 300], 0, 10, 70, 370)).toBeNull();
    expect(planned([0, 0], 0, 0)).toBe(0);
    expect(planned([], 0)).toBeNull();
  });

  it("does not change by attempts out of turn, however many", () => {
    expect(planned([10, 60], 0, 1, 2, 3, 4, 9)).toBe(10);
    expect(planned([10, 60], 0, 1, 2, 10)).toBe(70);
    expect(planned([10, 60], 0, 1, 10, 30, 69)).toBe(70);
    expect(planned([10, 60], 0, 1, 10, 30, 70)).toBeNull();
  });

  it("stays at its end", () => {
    expect(planned([10], 0, 10, 11)).toBeNull();
    expect(planned([10], 0, 10, 500, 501)).toBeNull();
    expect(planned([], 0, 1, 2)).toBeNull();
  });
});
