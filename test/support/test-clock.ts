import type { Clock } from "../../src/platform/time.ts";

/** A clock that does not move until a test moves it. */
export type TestClock = Clock & {
  advance(by: { hours?: number; minutes?: number; seconds?: number; ms?: number }): void;
};

export function createTestClock(start = "2026-03-02T09:00:00.000Z"): TestClock {
  let nowMs = Date.parse(start);
  return {
    now: () => new Date(nowMs),
    advance: ({ hours = 0, minutes = 0, seconds = 0, ms = 0 }) => {
      nowMs += ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms;
    },
  };
}
