import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticated } from "../http/add-route.ts";
import { apiKeyOf, clientAddress, unauthorized } from "../http/replies.ts";
import { callerMembers, failedAuthenticationLog } from "../http/request-log.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { type ApiKey, hashKey, isValid, type KeyAccess } from "../merchants/api-key.ts";
import { type KnownKeys, keyUseNotes } from "../merchants/keys.ts";
import { readKeys } from "../merchants/keys-sql.ts";
import { type BucketState, bucketTerms, createRateLimit } from "../merchants/rate-limit.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { groupCalls } from "../platform/database/group.ts";
import { toTypeId } from "../platform/ids.ts";
import type { Clock } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";

/** The connection and key of a request of the partner API. */
export type PartnerCaller = KeyAccess & { readonly key: ApiKey };

/** The caller as the audit log names it: a partner's people are not known, but its keys are. */
export const actorOf = ({ key }: PartnerCaller): Actor => ({
  kind: "partner",
  name: toTypeId("key", key.id),
});

const callerOf = (key: ApiKey): PartnerCaller => ({
  merchantId: key.merchantId,
  connectionId: key.connectionId,
  testOnly: key.mode === "test",
  key,
});

/** The caller as the request log names it. */
export const membersOf = callerMembers<PartnerCaller>(
  ({ key }) => key.id,
  ({ connectionId, key }) => ({
    connection: { id: toTypeId("con", connectionId) },
    key: { id: toTypeId("key", key.id) },
  }),
);

/** Statements that look up keys at the same time. */
const KEY_GROUPS_MAX = 4;

/**
 * Finds the connection of a request's key and takes one request from its rate limit. Specification, part 5. Requests that
 * arrive together share one lookup of keys.
 * @param knownKeys keys that need no lookup for a second (docs/design/isolation-and-limits.md, "Known keys"). Null: each
 *   request looks its key up.
 */
export function partnerAuthentication(
  { db, clock, log }: Context,
  rateLimiter: RateLimiter,
  knownKeys: KnownKeys | null,
) {
  const logFailure = failedAuthenticationLog(log.child({ listener: "partner-api" }), clock);
  const findKey = groupCalls<string, ApiKey | undefined>({
    name: "find keys",
    run: async (hashes) => {
      const keep = knownKeys?.beginRead();
      const keys = await readKeys(db, [...new Set(hashes)]);
      keep?.(keys);
      return hashes.map((hash) => keys.get(hash));
    },
    sizeMax: 128,
    concurrencyMax: KEY_GROUPS_MAX,
    ownerOf: (hash) => hash, // Requests with one key, known or not, do not keep those with others waiting.
  });
  const noteUse = keyUseNotes({ db, clock, log });
  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    key: ApiKey | undefined,
  ): Authenticated<PartnerCaller> {
    if (key === undefined || !isValid(key, clock.now())) {
      const keyId = key && toTypeId("key", key.id);
      logFailure({ address: clientAddress(request), requestId: request.id, ...(keyId && { keyId }) });
      return unauthorized(request.headers);
    }
    noteUse(key.id);
    const grant = (rate: Rate | null): PartnerCaller | Problem => {
      if (rate !== null) reply.headers(rate.headers);
      return rate?.problem ?? callerOf(key);
    };
    const taken = rateLimiter.take(key);
    return taken instanceof Promise ? taken.then(grant) : grant(taken);
  }

  return (request: FastifyRequest, reply: FastifyReply): Authenticated<PartnerCaller> => {
    const sent = apiKeyOf(request.headers);
    const hash = sent === null ? null : hashKey(sent);
    const known = hash === null ? undefined : knownKeys?.get(hash);
    return known !== undefined || hash === null
      ? admit(request, reply, known)
      : findKey(hash).then((key) => admit(request, reply, key));
  };
}

/**
 * The rest of a connection's rate limit after a request, as header fields, and the problem if the limit is exceeded.
 */
type Rate = { headers: Readonly<Record<string, string>>; problem?: Problem };

export type RateLimiter = {
  /** Takes one request from the connection's allowance. Null if there is no limit. A promise if it queries the database. */
  take(connection: ConnectionKey): Rate | Promise<Rate> | null;
};

/** See docs/design/isolation-and-limits.md, "Rate limit". */
const BURST_MAX = 100;

/**
 * A token bucket for each connection: `perMinute` requests a minute in the long run, and at most 100 at once, over all
 * processes together (docs/design/isolation-and-limits.md, "Rate limit").
 */
export function createRateLimiter(db: Queryable, perMinute: number, clock: Clock): RateLimiter {
  if (perMinute === 0) return { take: () => null };
  const take = createRateLimit(db, clock, bucketTerms(perMinute, Math.min(BURST_MAX, perMinute)));
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
function toRate(perMinute: number, { waitUs, left, fullInUs }: BucketState): Rate {
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
