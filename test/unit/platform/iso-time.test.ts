import { describe, expect, it } from "vitest";
import { isoTime } from "../../../src/platform/time.ts";

describe("a time as the API shows it", () => {
  it.each([
    "1970-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "2026-02-28T23:59:59.999Z",
    "9999-12-31T23:59:59.999Z",
  ])("is %s, also when it is shown again", (text) => {
    expect(isoTime(new Date(text))).toBe(text);
    expect(isoTime(new Date(text))).toBe(text);
  });

  it("is not that of another time, in whatever order they are shown", () => {
    const times = Array.from(
      { length: 1_000 },
      (_, index) => new Date(Date.UTC(2026, 0, 1) + 97 * index - 40_000),
    );
    for (const time of [...times, ...times.toReversed(), ...times])
      expect(isoTime(time)).toBe(time.toISOString());
  });

  it("is none for an invalid date", () => {
    expect(() => isoTime(new Date(Number.NaN))).toThrow(RangeError);
  });
});
