import {
  type BucketState,
  bucketTerms,
  createRateLimit,
  type RateKind,
  type RateTerms,
  type RateUnit,
} from "../merchants/rate-limit.ts";
import type { Config } from "../platform/config.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Clock } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";

/** The rest of an allowance after a request, as header fields, and the problem if it is used up. */
export type Rate = { readonly headers: Readonly<Record<string, string>>; readonly problem?: Problem };

export type RateLimiter = {
  /** Takes one request from an allowance. Null if there is no limit. A promise if it queries the database. */
  take(kind: RateKind, owner: ConnectionKey): Rate | Promise<Rate> | null;
};

type Limits = Pick<Config, "rateLimitPerMinute" | "backOfficeRateLimitPerMinute">;

/** Requests in a minute, and at once after a pause. */
type Allowance = { readonly perMinute: number; readonly burst: number };
type Allowances = Readonly<Record<RateKind, Readonly<Record<RateUnit, Allowance>>>>;

/** At most so many requests of a connection come at once. */
const BURST_MAX = 100;
/** With a test key that a stranger has requested. It also bounds the webhooks that strangers can cause. */
const REQUESTED_PER_MINUTE = 60;
const REQUESTED_BURST = 30;
/** The connections of a merchant together may send ten times what each of them may. */
const CONNECTIONS_TOGETHER = 10;
/** Polls of pull endpoints and acknowledgements, as a multiple of requests: a busy client makes two for a handful of deliveries. */
const POLLS_TIMES = 5;
/** Each person and token of a merchant may send half of what all of them together may. */
const CALLER_PART = 1 / 2;
/** So much of the requests of a minute may come to the back office at once. */
const BACK_OFFICE_BURST_PART = 1 / 6;

/** Every allowance of a service (docs/design/isolation-and-limits.md, "Rate limit"). 0 a minute: there is no limit. */
function allowancesOf({ rateLimitPerMinute, backOfficeRateLimitPerMinute }: Limits): Allowances {
  const connection = { perMinute: rateLimitPerMinute, burst: Math.min(BURST_MAX, rateLimitPerMinute) };
  const requested = {
    perMinute: Math.min(REQUESTED_PER_MINUTE, rateLimitPerMinute),
    burst: Math.min(REQUESTED_BURST, rateLimitPerMinute),
  };
  const backOffice = {
    perMinute: backOfficeRateLimitPerMinute,
    burst: Math.ceil(BACK_OFFICE_BURST_PART * backOfficeRateLimitPerMinute),
  };
  return {
    live: { caller: connection, merchant: times(CONNECTIONS_TOGETHER, connection) },
    test: { caller: connection, merchant: times(CONNECTIONS_TOGETHER, connection) },
    requested: { caller: requested, merchant: times(CONNECTIONS_TOGETHER, requested) },
    "live-polls": polls(connection),
    "test-polls": polls(connection),
    "requested-polls": polls(requested),
    "back-office": { caller: times(CALLER_PART, backOffice), merchant: backOffice },
  };
}

const polls = (allowance: Allowance): Readonly<Record<RateUnit, Allowance>> => ({
  caller: times(POLLS_TIMES, allowance),
  merchant: times(CONNECTIONS_TOGETHER * POLLS_TIMES, allowance),
});

const times = (factor: number, { perMinute, burst }: Allowance): Allowance => ({
  perMinute: Math.ceil(factor * perMinute),
  burst: Math.ceil(factor * burst),
});

/**
 * Token buckets for the callers of a listener, over all processes together
 * (docs/design/isolation-and-limits.md, "Rate limit").
 */
export function createRateLimiter(db: Queryable, limits: Limits, clock: Clock): RateLimiter {
  const allowances = allowancesOf(limits);
  const take = createRateLimit(db, clock, {
    live: termsOf(allowances.live),
    test: termsOf(allowances.test),
    requested: termsOf(allowances.requested),
    "live-polls": termsOf(allowances["live-polls"]),
    "test-polls": termsOf(allowances["test-polls"]),
    "requested-polls": termsOf(allowances["requested-polls"]),
    "back-office": termsOf(allowances["back-office"]),
  });
  return {
    take(kind, owner) {
      const allowed = allowances[kind];
      if (allowed.caller.perMinute === 0) return null;
      const taken = take(kind, owner);
      const isOfPolls = kind.endsWith("-polls");
      return taken instanceof Promise
        ? taken.then((state) => toRate(allowed, state, owner, isOfPolls))
        : toRate(allowed, taken, owner, isOfPolls);
    },
  };
}

const termsOf = ({ caller, merchant }: Allowances[RateKind]): RateTerms[RateKind] => ({
  caller: bucketTerms(caller.perMinute, caller.burst),
  merchant: bucketTerms(merchant.perMinute, merchant.burst),
});

/**
 * The fields of the RateLimit header draft: what is left, and when the whole allowance is available again. They show that of the
 * merchant only if it is used up: what other connections use is not a partner's business.
 */
function toRate(
  allowed: Allowances[RateKind],
  { waitUs, left, fullInUs, unit }: BucketState,
  { merchantId, connectionId }: ConnectionKey,
  isOfPolls: boolean,
): Rate {
  const { perMinute } = allowed[unit];
  const isShared = unit === "merchant" && merchantId !== connectionId;
  const name = isOfPolls ? (isShared ? "merchant-polls" : "polls") : isShared ? "merchant" : "default";
  const headers = {
    "ratelimit-policy": `"${name}";q=${perMinute};w=60`,
    ratelimit: `"${name}";r=${left};t=${secondsOf(fullInUs)}`,
  };
  if (waitUs === null) return { headers };
  const seconds = secondsOf(waitUs);
  const of = isShared ? " for the merchant's connections or callers together" : "";
  return {
    headers: { ...headers, "retry-after": String(seconds) },
    problem: {
      code: "rate-limited",
      detail: `The limit is ${perMinute} ${isOfPolls ? "polls and acknowledgements" : "requests"} a minute${of}. Retry in ${seconds} s.`,
      ...(isShared && !isOfPolls && { members: { limit: "merchant-requests" } }),
      ...(isOfPolls && { members: { limit: isShared ? "merchant-poll-requests" : "poll-requests" } }),
    },
  };
}

const secondsOf = (us: number): number => Math.max(1, Math.ceil(us / 1_000_000));

/** What the fields mean, for the description of an API. */
export const RATE_LIMIT_FIELDS = {
  RateLimit:
    "Requests that are left, and the seconds until the whole allowance is available again. Absent if there is no rate limit.",
  "RateLimit-Policy":
    "Requests allowed in a window, and its length in seconds. A part of them may come at once. Absent if there is no rate limit.",
} as const;
