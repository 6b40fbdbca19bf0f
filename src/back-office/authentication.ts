import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type BackOfficeCaller, strongestRole } from "../audit/grant.ts";
import { bearerToken, unauthorized } from "../http/credentials.ts";
import type { RateLimiter } from "../http/rate-limiter.ts";
import { clientAddress, networkOf } from "../http/replies.ts";
import { failedAuthenticationLog } from "../http/request-log.ts";
import { hashKey, isValid } from "../merchants/api-key.ts";
import { isTokenText, type Token } from "../people/token.ts";
import { noteTokenUse } from "../people/tokens.ts";
import { readTokenByHash } from "../people/tokens-sql.ts";
import type { Context } from "../platform/context.ts";
import { toTypeId } from "../platform/ids.ts";
import { MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { isProblem, type Problem } from "../platform/wire/problems.ts";
import { ownerOf } from "./access.ts";

/** A caller that is not known. `tokenId`: its token is known, but was revoked or has expired. */
type Unauthenticated = Problem & { readonly tokenId?: string };

/** Returns the caller, or an error. */
export type BackOfficeAuthentication = (
  request: FastifyRequest,
) => Promise<BackOfficeCaller | Unauthenticated>;

/** The caller with `OPERATOR_TOKEN`. */
const OPERATOR: BackOfficeCaller = {
  type: "token",
  id: null,
  name: "operator",
  grants: [{ role: "operator" }],
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * `OPERATOR_TOKEN` alone. Its digests are compared, so that the time taken reveals nothing about it. It needs no database, so
 * it opens the back office also when no other token can be read (docs/design/people.md, "Tokens").
 */
export function operatorAuthentication(operatorToken: string): BackOfficeAuthentication {
  const expected = digest(operatorToken);
  return async ({ headers }) => {
    const sent = headers.authorization === undefined ? null : bearerToken(headers.authorization);
    const valid = sent !== null && timingSafeEqual(digest(sent), expected);
    return valid ? OPERATOR : unauthorized(headers, "token");
  };
}

/**
 * Programs send `OPERATOR_TOKEN` or a named token. Named tokens are looked up by their hash and not cached, so a revoked
 * one is rejected by the very next request, in every process.
 */
export function tokenAuthentication(
  operatorToken: string,
  context: Pick<Context, "db" | "clock" | "log">,
): BackOfficeAuthentication {
  const authenticateOperator = operatorAuthentication(operatorToken);
  return async (request) => {
    const operator = await authenticateOperator(request);
    if (!isProblem(operator)) return operator;
    const { authorization = "" } = request.headers;
    const sent = bearerToken(authorization);
    const token =
      sent !== null && isTokenText(sent) ? await readTokenByHash(context.db, hashKey(sent)) : null;
    if (token === null) return operator;
    const now = context.clock.now();
    if (!isValid(token, now)) return { ...operator, tokenId: toTypeId("tok", token.id) };
    await noteTokenUse(context, token, now);
    return callerOf(token);
  };
}

const callerOf = (token: Token): BackOfficeCaller => ({
  type: "token",
  id: toTypeId("tok", token.id),
  name: token.name,
  grants: [token.grant],
  scopes: token.scopes,
});

/**
 * 128 random bits in hex. A shorter `OPERATOR_TOKEN` still works, so that an update stops no deployment
 * (docs/design/people.md, "Roles and grants").
 */
export const TOKEN_LENGTH_ADVISED = 32;

/** Wrong tokens that one address can send within a minute. */
export const FAILURES_MAX = 20;
/** Addresses that are remembered. Beyond them the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

type Failures = { count: number; readonly sinceMs: number };

/**
 * Limits how fast an address can guess the operator token, and logs failures. An address that has sent too many wrong tokens is
 * rejected for the rest of its minute, with a right `OPERATOR_TOKEN` that is short as well: otherwise it would still learn which
 * guess is right. Tokens that cannot be guessed are never locked out, because many clients can have the address of one proxy
 * (docs/design/people.md, "Roles and grants"). A request without a token is no guess, and neither is one with a token that was
 * revoked or has expired. Each process counts for itself.
 */
export function limitAttempts(
  authenticate: BackOfficeAuthentication,
  { clock, log }: Pick<Context, "clock" | "log">,
  operatorToken: string,
): BackOfficeAuthentication {
  const failures = new Map<string, Failures>();
  const logFailure = failedAuthenticationLog(log.child({ listener: "back-office" }), clock);

  function recent(network: string, nowMs: number): Failures | undefined {
    const found = failures.get(network);
    if (found !== undefined && nowMs - found.sinceMs < MINUTE_MS) return found;
    failures.delete(network);
    return undefined;
  }

  function count(network: string, nowMs: number): void {
    const found = recent(network, nowMs) ?? { count: 0, sinceMs: nowMs };
    found.count += 1;
    failures.set(network, found);
    const [oldest] = failures.size > ADDRESSES_MAX ? failures.keys() : [];
    if (oldest !== undefined) failures.delete(oldest);
  }

  return async (request) => {
    const nowMs = clock.now().getTime();
    const network = networkOf(request);
    const earlier = recent(network, nowMs);
    const isLimited = earlier !== undefined && earlier.count >= FAILURES_MAX;
    const rejected = () => tooManyAttempts(request, (earlier?.sinceMs ?? nowMs) + MINUTE_MS - nowMs);
    if (isLimited && operatorToken.length < TOKEN_LENGTH_ADVISED && !sendsNamedToken(request))
      return rejected();
    const caller = await authenticate(request);
    if (!isProblem(caller)) return caller;
    if (isLimited) return rejected();
    const { tokenId } = caller;
    logFailure({ address: clientAddress(request), requestId: request.id, ...(tokenId && { tokenId }) });
    if (request.headers.authorization !== undefined && tokenId === undefined) count(network, nowMs);
    return caller;
  };
}

function sendsNamedToken({ headers }: FastifyRequest): boolean {
  const sent = bearerToken(headers.authorization ?? "");
  return sent !== null && isTokenText(sent);
}

/** The problem of a wrong token, so that it does not reveal which guess was right. `detail` is for those who hold the token. */
function tooManyAttempts({ headers }: FastifyRequest, waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  const problem = unauthorized(headers, "token");
  return {
    ...problem,
    detail: `Too many requests with a wrong token came from this address. Retry in ${seconds} s.`,
    headers: { ...problem.headers, "retry-after": String(seconds) },
  };
}

/** Takes one request of each known caller from its rate limit. */
export function limitRates(authenticate: BackOfficeAuthentication, rateLimiter: RateLimiter) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<BackOfficeCaller | Problem> => {
    const caller = await authenticate(request);
    if (isProblem(caller)) return caller;
    const isPartner = strongestRole(caller.grants) === "partner";
    const rate = await rateLimiter.take(isPartner ? "live" : "back-office", ownerOf(caller));
    if (rate !== null) reply.headers(rate.headers);
    return rate?.problem ?? caller;
  };
}
