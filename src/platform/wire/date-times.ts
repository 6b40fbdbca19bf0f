import { parseTime } from "../time.ts";

/** RFC 3339, and of ISO 8601 the offsets without a colon or without minutes. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[T ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|(60))(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/i;

/**
 * Why a text is no date-time that the service reads, as a message that follows the name of the field. Null if it is one.
 */
export function dateTimeError(text: string): string | null {
  const [, day = "", leapSecond] = DATE_TIME.exec(text) ?? [];
  const isTime = isDay(day) && (leapSecond === undefined || endsDay(parseTime(text)));
  return isTime ? yearError(parseTime(text)) : "must be an ISO 8601 date-time with a time zone";
}

/**
 * The error of a time that is before the year 0000 or after 9999 in UTC, which its offset can cause. RFC 3339 has no form for
 * it, so no response could contain it.
 */
export const yearError = (time: Date): string | null =>
  /^\d{4}-/.test(time.toISOString()) ? null : "must be in the years 0000 to 9999 in UTC";

/** Whether the calendar has the day. `Date` reads the 30th of February as a day of March. */
export function isDay(text: string): boolean {
  const midnight = new Date(text);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** Whether it is in the last second of a day in UTC, as each leap second. */
const endsDay = (time: Date): boolean => time.toISOString().includes("T23:59:59");
