import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTime } from "../../../src/platform/time.ts";
import { sentenceOf, type Violation } from "../../../src/platform/wire/rules.ts";
import { dateTimeError, yearError } from "../../../src/platform/wire/validation.ts";

const textOf = (error: Violation | null) => error && sentenceOf(error);

const FORM = "must be an ISO 8601 date-time with a time zone";
const YEARS = "must be in the years 0000 to 9999 in UTC";

it.each([
  ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
  ["0000-01-01 00:00:00z", "0000-01-01T00:00:00.000Z"],
  ["0049-06-30 12:00:00+0530", "0049-06-30T06:30:00.000Z"],
  ["0000-01-01T14:00:00+14:00", "0000-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"],
  ["9999-12-31t09:59:59-14", "9999-12-31T23:59:59.000Z"],
  ["9999-12-31T23:59:60Z", "9999-12-31T23:59:59.000Z"],
  ["2024-02-29T23:59:60.5-00:00", "2024-02-29T23:59:59.500Z"],
  ["2017-01-01T05:29:60+0530", "2016-12-31T23:59:59.000Z"],
])("%s is a date-time: %s", (text, time) => {
  expect(dateTimeError(text)).toBeNull();
  expect(parseTime(text).toISOString()).toBe(time);
});

it.each([
  "0000-01-01T00:00:00+14:00",
  "0000-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59-00:01",
  "9999-12-31T23:59:59.999-23:59",
])("%s is outside of the years that RFC 3339 can express", (text) => {
  expect(textOf(dateTimeError(text))).toBe(YEARS);
  expect(textOf(yearError(parseTime(text)))).toBe(YEARS);
});

it.each([
  "",
  "yesterday",
  "2026-03-02",
  "2026-03-02T09:00:00",
  "2026-03-02T09:00Z",
  "2026-03-02\n09:00:00Z",
  "2026-03-02T09:00:00Z\n",
  " 2026-03-02T09:00:00Z",
  "2026-02-29T09:00:00Z",
  "2026-13-01T09:00:00Z",
  "2026-03-02T24:00:00Z",
  "2026-03-02T09:60:00Z",
  "2026-03-02T09:00:61Z",
  "2026-03-02T09:00:00.Z",
  "2026-03-02T09:00:00+24:00",
  "2026-03-02T09:00:00+01:60",
  "+10000-01-01T00:00:00Z",
  "-0001-12-31T00:00:00Z",
  // A leap second that is none.
  "2016-12-31T23:58:60Z",
  "2016-12-31T12:00:60Z",
  "2016-12-31T23:59:60+01:00",
  // Hours and minutes that would be right with their offset alone.
  "2017-01-01T24:59:60+01:00",
  "2017-01-01T23:99:60+0040",
])("%j is no date-time", (text) => expect(textOf(dateTimeError(text))).toBe(FORM));

describe("every date-time", () => {
  const two = (most: number) =>
    fc.integer({ min: 0, max: most }).map((number) => `${number}`.padStart(2, "0"));
  const year = fc.constantFrom("0000", "0049", "1969", "2024", "9999");
  const rest = fc.tuple(two(13), two(32), fc.constantFrom("T", " ", "t"), two(25), two(61), two(61));
  const zone = fc.oneof(
    fc.constantFrom("Z", "z"),
    fc
      .tuple(fc.constantFrom("+", "-"), two(25), fc.constantFrom("", ":"), two(61))
      .map((parts) => parts.join("")),
  );

  it("has a form in UTC that is a date-time too", () =>
    fc.assert(
      fc.property(year, rest, zone, (y, [month, day, separator, ...time], offset) => {
        const text = `${y}-${month}-${day}${separator}${time.join(":")}${offset}`;
        if (dateTimeError(text) === null) expect(dateTimeError(parseTime(text).toISOString())).toBeNull();
      }),
      { numRuns: 5_000 },
    ));
});
