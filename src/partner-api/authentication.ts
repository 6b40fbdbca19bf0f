import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticated } from "../http/add-route.ts";
import { apiKeyOf, unauthorized } from "../http/credentials.ts";
import type { Rate, RateLimiter } from "../http/rate-limiter.ts";
import { clientAddress } from "../http/replies.ts";
import { callerMembers, failedAuthenticationLog } from "../http/request-log.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { type ApiKey, hashKey, isValid, type KeyAccess } from "../merchants/api-key.ts";
import { type KnownKeys, keyUseNotes } from "../merchants/keys.ts";
import { readKeys } from "../merchants/keys-sql.ts";
import type { Context } from "../platform/context.ts";
import { groupCalls } from "../platform/database/group.ts";
import { toTypeId } from "../platform/ids.ts";
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
const KEY_GROUPS_MAX = 3;

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
    // Requests with one key, known or not, do not keep those with others waiting.
    ownerOf: (hash) => ({ merchantId: hash, connectionId: hash }),
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
    const kind = key.isRequested ? "requested" : key.mode;
    const taken = rateLimiter.take(request.routeOptions.config.isPoll ? `${kind}-polls` : kind, key);
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
