import { expect, it } from "vitest";
import { parseTime, timeIn } from "../../../src/platform/time.ts";

it.each([
  ["2026-03-02T09:00:00Z", "2026-03-02T09:00:00.000Z"],
  ["2026-03-02T09:00:00+02:00", "2026-03-02T07:00:00.000Z"],
  ["2026-03-02T09:00:00-0330", "2026-03-02T12:30:00.000Z"],
  ["2026-03-02T09:00:00+02", "2026-03-02T07:00:00.000Z"],
  ["2026-03-02T09:00:00.5-11", "2026-03-02T20:00:00.500Z"],
  ["2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z"],
  ["2017-01-01T00:59:60+01", "2016-12-31T23:59:59.000Z"],
])("%s is read as %s", (text, time) => {
  expect(parseTime(text).toISOString()).toBe(time);
  expect(timeIn(text)).toEqual(new Date(time));
});

it("a filter that is absent is no time", () => {
  expect(timeIn(undefined)).toBeNull();
});
