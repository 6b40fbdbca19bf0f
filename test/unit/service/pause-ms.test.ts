import { describe, expect, it } from "vitest";
import { pauseMs } from "../../../src/service/worker.ts";

describe("the pause between two runs of a job", () => {
  it.each([
    ["its own, if it has found work", 500, 0, 500],
    ["its own, if it finds out quickly that there is none", 500, 10, 500],
    ["longer, if that takes more than a fiftieth of the time", 500, 40, 2_000],
    ["never longer than two and a half seconds", 500, 15_000, 2_500],
    ["its own, if that is longer", 3_600_000, 15_000, 3_600_000],
  ])("is %s", (_, everyMs, idleMs, expected) => {
    expect(pauseMs(everyMs, idleMs)).toBe(expected);
  });
});
