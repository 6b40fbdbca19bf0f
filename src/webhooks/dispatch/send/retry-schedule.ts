import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../platform/time.ts";

const JITTER = 0.2;
/** A `Retry-After` up to this long is always obeyed. */
const ALWAYS_OBEYED_MS = MINUTE_MS;
const OBEYED_MAX_MS = DAY_MS;

type FailedAttempt = {
  /** Failed attempts so far: 1 after the first. */
  attemptCount: number;
  now: Date;
  /** The wait after each failed attempt, in milliseconds. */
  retryMs: readonly number[];
  /** From 0 to 1. Spreads attempts that failed together. */
  random: number;
  /** The header of the response, unchanged. */
  retryAfter: string | null;
  responseStatus: number | null;
  /** No attempt at or after this time: the erasure of a test order. */
  notAfter: Date | null;
};

/**
 * Returns when to make the next attempt. Null when the schedule is used up, or the time would not be before `notAfter`.
 *
 * The wait after the n-th failed attempt is `retryMs[n - 1]`, varied by up to ±20 % according to `random`. A response of
 * 429 or 503 may extend it by `Retry-After`, in seconds or as an HTTP date, but never shorten it. The header is obeyed up
 * to twice the interval, or up to 60 s if that is more, because early intervals are short and a rate limit often lasts a
 * minute; and never beyond 24 h, so that no receiver can postpone a delivery without limit. Any other value is ignored.
 */
export function nextAttemptAt(failed: FailedAttempt): Date | null {
  const { attemptCount, now, retryMs, random, notAfter } = failed;
  const intervalMs = retryMs[attemptCount - 1];
  if (intervalMs === undefined) return null;
  const scheduledMs = Math.round(intervalMs * (1 + JITTER * (2 * random - 1)));
  const obeyedMaxMs = Math.min(Math.max(2 * intervalMs, ALWAYS_OBEYED_MS), OBEYED_MAX_MS);
  const waitMs = Math.max(scheduledMs, Math.min(requestedMs(failed), obeyedMaxMs));
  const next = new Date(now.getTime() + waitMs);
  return notAfter !== null && next >= notAfter ? null : next;
}

/** The wait that the receiver requests, 0 if none. */
function requestedMs({ retryAfter, responseStatus, now }: FailedAttempt): number {
  if (retryAfter === null || (responseStatus !== 429 && responseStatus !== 503)) return 0;
  const text = retryAfter.trim();
  if (/^\d+$/.test(text)) return SECOND_MS * Number(text);
  // Date.parse accepts more than HTTP dates, such as a bare number, and reads a date without GMT as local time.
  const at = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
