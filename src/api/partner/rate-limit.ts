import { type Allowance, createAllowances } from "../../merchants/rate-limit/allowances.ts";
import { lineTerms } from "../../merchants/rate-limit/line.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/wire/problems.ts";

/**
 * The rest of a connection's rate limit after a request, as header fields, and the problem if the limit is exceeded.
 */
export type Rate = { headers: Readonly<Record<string, string>>; problem?: Problem };

export type RateLimiter = {
  /** Takes one request from the connection's allowance. Null if there is no limit. A promise if it queries the database. */
  take(connection: ConnectionKey): Rate | Promise<Rate> | null;
};

/** Decision 0020. */
const BURST_MAX = 100;

/**
 * A token bucket for each connection: `perMinute` requests a minute in the long run, and at most 100 at once, over all
 * processes together (decision 0076).
 */
export function createRateLimiter(db: Queryable, perMinute: number, clock: Clock): RateLimiter {
  if (perMinute === 0) return { take: () => null };
  const take = createAllowances(db, clock, lineTerms(perMinute, Math.min(BURST_MAX, perMinute)));
  return {
    take(connection) {
      const taken = take(connection);
      return taken instanceof Promise
        ? taken.then((allowance) => toRate(perMinute, allowance))
        : toRate(perMinute, taken);
    },
  };
}

/** The fields of the RateLimit header draft: what is left, and when the whole allowance is available again. */
function toRate(perMinute: number, { waitUs, left, fullInUs }: Allowance): Rate {
  const headers = {
    "ratelimit-policy": `"default";q=${perMinute};w=60`,
    ratelimit: `"default";r=${left};t=${secondsOf(fullInUs)}`,
  };
  if (waitUs === null) return { headers };
  const seconds = secondsOf(waitUs);
  return {
    headers: { ...headers, "retry-after": String(seconds) },
    problem: {
      code: "rate-limited",
      detail: `The limit is ${perMinute} requests a minute. Retry in ${seconds} s.`,
    },
  };
}

const secondsOf = (us: number): number => Math.max(1, Math.ceil(us / 1_000_000));
