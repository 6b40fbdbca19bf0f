import { describe, expect, it } from "vitest";
import { pauseMs } from "../../../src/app/worker.ts";

describe("the pause between two runs of a job", () => {
  it.each([
    ["its own, if it has found work", 500, 0, 500],
    ["its own, if it finds out quickly that there is none", 500, 20, 500],
    ["longer, if that takes more than a twentieth of the time", 500, 100, 2_000],
    ["never longer than five seconds", 500, 15_000, 5_000],
    ["its own, if that is longer", 3_600_000, 15_000, 3_600_000],
  ])("is %s", (_, everyMs, idleMs, expected) => {
    expect(pauseMs(everyMs, idleMs)).toBe(expected);
  });
});
