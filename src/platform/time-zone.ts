import { DAY_MS, MINUTE_MS } from "./time.ts";

// Days of a person: counted from 1970-01-01 in a time zone of the IANA, such as `Europe/Berlin`.

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

/** The day of a moment. */
export const dayIn = (zone: string, at: Date): number =>
  Math.floor((at.getTime() + offsetMs(zone, at)) / DAY_MS);

/** When a day begins. The clock may be changed on it, so the offset is that of its beginning. */
export function startOfDayIn(zone: string, day: number): Date {
  const about = new Date(day * DAY_MS - offsetMs(zone, new Date(day * DAY_MS)));
  return new Date(day * DAY_MS - offsetMs(zone, about));
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d))?/;

/** How far the zone is ahead of UTC at a moment. */
function offsetMs(zone: string, at: Date): number {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  const [, sign, hours, minutes] = OFFSET.exec(format.format(at)) ?? [];
  const ms = (60 * Number(hours ?? 0) + Number(minutes ?? 0)) * MINUTE_MS;
  return sign === "-" ? -ms : ms;
}
