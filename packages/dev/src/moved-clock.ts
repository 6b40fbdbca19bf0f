import type { Clock } from "../../../src/platform/time.ts";

/** The clock of the machine, and a span that is added. Signatures have the machine's own time (docs/design/dev.md, "The clock"). */
export type MovedClock = Clock & {
  aheadMs: number;
  readonly receiversNow: () => Date;
};

export function createMovedClock(aheadMs: number): MovedClock {
  const clock: MovedClock = {
    aheadMs,
    now: () => new Date(Date.now() + clock.aheadMs),
    receiversNow: () => new Date(),
  };
  return clock;
}
