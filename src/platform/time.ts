export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The clocks of processes, and so the ids that they make, differ by less than this. */
export const CLOCK_SKEW_MAX_MS = HOUR_MS;

export const before = (moment: Date, ms: number): Date => new Date(moment.getTime() - ms);
export const after = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);

/** RFC 3339 cannot express later times. */
export const LATEST = new Date("9999-12-31T23:59:59.999Z");

/**
 * The moment that a valid date-time names. `Date` reads neither a leap second, which counts as the second before it, nor
 * an offset without minutes, and with a space before the hour it reads the years before 0050 as those from 1950 on.
 */
export const parseTime = (text: string): Date =>
  new Date(
    text
      .replace(" ", "T")
      .replace(/:60(?=[.Zz+-])/, ":59")
      .replace(/[+-]\d\d$/, "$&:00"),
  );

/** The same for a filter that may be absent. Null without it. */
export const timeIn = (text: string | undefined): Date | null =>
  text === undefined ? null : parseTime(text);

/** What PostgreSQL sends in a session in UTC for the times that the service stores. */
const UTC_TIMESTAMP = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/;

/** A time as PostgreSQL sends it. Null if it is not in UTC, is more precise than milliseconds, or is infinite. */
export function parseUtcTimestamp(text: string): Date | null {
  if (!UTC_TIMESTAMP.test(text)) return null;
  const year = 100 * digitsAt(text, 0) + digitsAt(text, 2);
  const [month, day] = [digitsAt(text, 5) - 1, digitsAt(text, 8)];
  const milliseconds = Number(text.slice(20, -3).padEnd(3, "0"));
  return new Date(
    Date.UTC(year, month, day, digitsAt(text, 11), digitsAt(text, 14), digitsAt(text, 17), milliseconds),
  );
}

const ZERO = 48;
/** The number of two digits. */
const digitsAt = (text: string, at: number): number =>
  10 * (text.charCodeAt(at) - ZERO) + text.charCodeAt(at + 1) - ZERO;

/** The only source of time, so that tests can set it. */
export type Clock = {
  now(): Date;
  /** The time that receivers of webhooks have, if it is not the same. */
  readonly receiversNow?: () => Date;
};

/** The time for a signature: receivers reject one that is older or newer than a few minutes by their own clock. */
export const signingTime = (clock: Clock): Date => clock.receiversNow?.() ?? clock.now();

export const systemClock: Clock = { now: () => new Date() };

/** How long events can be read and sent (docs/design/database.md, "Retention"). */
export const EVENTS_KEPT_MS = 30 * DAY_MS;
/** How long the feed of changes is kept (docs/design/event-feed.md, "The change feed of the back office"). */
export const CHANGES_KEPT_MS = 30 * DAY_MS;
/** How long the delivery log is kept: deliveries, attempts, recoveries and mails. */
export const LOG_KEPT_MS = 90 * DAY_MS;

/** How long the history of stock is kept (docs/design/fulfilment.md, "Stock"). */
export const STOCK_MOVEMENTS_KEPT_MS = 730 * DAY_MS;
