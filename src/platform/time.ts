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
 * an offset without minutes.
 */
export const parseTime = (text: string): Date =>
  new Date(text.replace(/:60(?=[.Zz+-])/, ":59").replace(/[+-]\d\d$/, "$&:00"));

/** The same for a filter that may be absent. Null without it. */
export const timeIn = (text: string | undefined): Date | null =>
  text === undefined ? null : parseTime(text);
