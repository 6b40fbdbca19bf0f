import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Context } from "../../platform/context.ts";
import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import { isProblem, type Problem } from "../../platform/wire/problems.ts";
import { unauthorized } from "../http/bearer.ts";
import { clientAddress } from "../http/client-address.ts";
import { failedAuthenticationLog } from "../http/log/failed-authentication.ts";
import type { BackOfficeAuthentication } from "./authentication.ts";

/** Wrong tokens that one address can send within a minute. */
export const FAILURES_MAX = 20;
/** Addresses that are remembered. Beyond them the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

type Failures = { count: number; readonly sinceMs: number };

/**
 * Limits how fast an address can guess the operator token, and logs failures. An address that has sent too many wrong
 * tokens is rejected for the rest of its minute, with the right token as well: otherwise it would still learn which guess
 * is right (decision 0038). A request without a token is no guess, and neither is one with a token that was revoked or has
 * expired. Each process counts for itself.
 */
export function limitAttempts(
  authenticate: BackOfficeAuthentication,
  { clock, log }: Pick<Context, "clock" | "log">,
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
    if (earlier !== undefined && earlier.count >= FAILURES_MAX)
      return tooManyAttempts(request, earlier.sinceMs + MINUTE_MS - nowMs);
    const caller = await authenticate(request);
    if (!isProblem(caller)) return caller;
    const { tokenId } = caller;
    logFailure({ address: clientAddress(request), requestId: request.id, ...(tokenId && { tokenId }) });
    if (request.headers.authorization !== undefined && tokenId === undefined) count(network, nowMs);
    return caller;
  };
}

/** An IPv6 address counts as its network of 64 bits, because one caller has all of it. */
export function networkOf(request: FastifyRequest): string {
  const text = clientAddress(request);
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  return address.kind() === "ipv6"
    ? address.toNormalizedString().split(":").slice(0, 4).join(":")
    : address.toString();
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
