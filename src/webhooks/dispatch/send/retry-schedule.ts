import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../platform/time.ts";

const JITTER = 0.2;
const ALWAYS_OBEYED_MS = MINUTE_MS;
const OBEYED_MAX_MS = DAY_MS;

type FailedAttempt = {
  /** Attempts that have failed so far: 1 after the first. */
  attemptCount: number;
  now: Date;
  /** How long to wait after each failed try, in milliseconds. */
  retryMs: readonly number[];
  /** From 0 to 1; spreads attempts that failed together. */
  random: number;
  /** The response's `Retry-After`, unchanged. */
  retryAfter: string | null;
  responseStatus: number | null;
  /** No try at or after this moment: a test order's erasure. */
  notAfter: Date | null;
};

/**
 * The time of the next attempt, or null if the schedule is used up or the time would not be before `notAfter`.
 *
 * After the n-th failed attempt, `retryMs[n - 1]`, 20 % less to 20 % more by `random`. A response of 429 or 503 may
 * request a longer wait by `Retry-After`, in seconds or as an HTTP date; never a shorter one. It is obeyed up to twice
 * the interval, or up to 60 s where that is more, because early intervals are short and a rate limit often lasts a
 * minute; and never beyond 24 h, so that no receiver can postpone a delivery without end. Any other value is ignored.
 */
export function nextAttemptAt(failed: FailedAttempt): Date | null {
  const { attemptCount, now, retryMs, random, notAfter } = failed;
  const stepMs = retryMs[attemptCount - 1];
  if (stepMs === undefined) return null;
  const scheduledMs = Math.round(stepMs * (1 + JITTER * (2 * random - 1)));
  const obeyedMaxMs = Math.min(Math.max(2 * stepMs, ALWAYS_OBEYED_MS), OBEYED_MAX_MS);
  const waitMs = Math.max(scheduledMs, Math.min(askedMs(failed), obeyedMaxMs));
  const next = new Date(now.getTime() + waitMs);
  return notAfter !== null && next >= notAfter ? null : next;
}

/** The wait that the receiver requests; 0 if it requests none. */
function askedMs({ retryAfter, responseStatus, now }: FailedAttempt): number {
  if (retryAfter === null || (responseStatus !== 429 && responseStatus !== 503)) return 0;
  const text = retryAfter.trim();
  if (/^\d+$/.test(text)) return SECOND_MS * Number(text);
  // Date.parse takes much that is no HTTP date, such as a bare number, and reads a date without GMT as local time.
  const at = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}
