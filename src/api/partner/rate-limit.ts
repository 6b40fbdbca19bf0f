import type { Clock } from "../../platform/clock.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import { MINUTE_MS } from "../../platform/time.ts";
import type { Problem } from "../../platform/wire/problems.ts";

/**
 * The rest of a connection's rate limit after a request, as header fields, and the problem if the limit is exceeded.
 */
type Allowance = { headers: Readonly<Record<string, string>>; refusal?: Problem };

export type RateLimiter = {
  /** Takes one request from the connection's allowance. Null if there is no limit. */
  take(connection: ConnectionKey): Allowance | null;
};

/** Decision 0020. */
const BURST_MAX = 100;

type Bucket = { tokens: number; filledAtMs: number };

/**
 * A token bucket for each connection: `perMinute` requests a minute in the long run, and at most 100 at once. Each
 * process has its own buckets, so the limit applies per API process.
 */
export function createRateLimiter(perMinute: number, clock: Clock): RateLimiter {
  if (perMinute === 0) return { take: () => null };
  const burst = Math.min(BURST_MAX, perMinute);
  const tokensPerMs = perMinute / MINUTE_MS;
  const policy = `"default";q=${perMinute};w=60`;
  const buckets = new Map<string, Bucket>();
  let sweptAtMs = clock.now().getTime();

  return {
    take({ connectionId }) {
      const nowMs = clock.now().getTime();
      // After a minute without requests the bucket is full again, and need not be kept.
      if (nowMs - sweptAtMs > MINUTE_MS) {
        for (const [id, { filledAtMs }] of buckets) if (nowMs - filledAtMs > MINUTE_MS) buckets.delete(id);
        sweptAtMs = nowMs;
      }
      const bucket = buckets.get(connectionId) ?? { tokens: burst, filledAtMs: nowMs };
      buckets.set(connectionId, bucket);
      const gained = Math.max(0, nowMs - bucket.filledAtMs) * tokensPerMs;
      bucket.tokens = Math.min(burst, bucket.tokens + gained);
      bucket.filledAtMs = nowMs;
      return bucket.tokens >= 1 ? allowed(bucket) : refused(bucket);
    },
  };

  function allowed(bucket: Bucket): Allowance {
    bucket.tokens -= 1;
    return { headers: fields(bucket) };
  }

  function refused(bucket: Bucket): Allowance {
    const seconds = secondsUntil(1, bucket);
    return {
      headers: { ...fields(bucket), "retry-after": String(seconds) },
      refusal: {
        code: "rate-limited",
        detail: `The limit is ${perMinute} requests a minute. Retry in ${seconds} s.`,
      },
    };
  }

  /** The fields of the RateLimit header draft: what is left, and when the whole allowance is available again. */
  function fields(bucket: Bucket): Record<string, string> {
    const left = Math.floor(bucket.tokens);
    return { "ratelimit-policy": policy, ratelimit: `"default";r=${left};t=${secondsUntil(burst, bucket)}` };
  }

  function secondsUntil(tokens: number, bucket: Bucket): number {
    return Math.max(1, Math.ceil((tokens - bucket.tokens) / tokensPerMs / 1_000));
  }
}
