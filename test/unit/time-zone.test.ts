import { describe, expect, it } from "vitest";
import { dayIn, isTimeZone, startOfDayIn } from "../../src/platform/time-zone.ts";

const dayOf = (text: string) => Date.parse(`${text}T00:00:00Z`) / 86_400_000;

describe("the days of a time zone", () => {
  it.each([
    ["UTC", "2026-03-02", "2026-03-02T00:00:00.000Z"],
    ["Europe/Berlin", "2026-03-02", "2026-03-01T23:00:00.000Z"],
    // The clocks are changed at 2 and at 3 in the morning of these two.
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z"],
    ["Europe/Berlin", "2026-10-26", "2026-10-25T23:00:00.000Z"],
    ["America/Los_Angeles", "2026-03-02", "2026-03-02T08:00:00.000Z"],
    ["Asia/Kolkata", "2026-03-02", "2026-03-01T18:30:00.000Z"],
    ["Pacific/Kiritimati", "2026-03-02", "2026-03-01T10:00:00.000Z"],
  ])("in %s %s begins at %s", (zone, day, start) => {
    const at = startOfDayIn(zone, dayOf(day));
    expect(at.toISOString()).toBe(start);
    expect(dayIn(zone, at)).toBe(dayOf(day));
    expect(dayIn(zone, new Date(at.getTime() - 1))).toBe(dayOf(day) - 1);
  });

  it("are not those of a name that is none", () => {
    expect(["Europe/Berlin", "UTC", "Mars/Base", "", "x".repeat(99)].map(isTimeZone)).toEqual([
      ...[true, true, false, false, false],
    ]);
  });
});
