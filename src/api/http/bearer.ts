import type { IncomingHttpHeaders } from "node:http";
import type { Problem } from "../../platform/wire/problems.ts";

/** The token of an `Authorization: Bearer …` header. Null if the header has another form. */
export function bearerToken(authorization: string): string | null {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1] ?? null;
}

/** `Authorization` takes precedence over `x-api-key` (decision 0017). Null if neither contains a key. */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  if (headers.authorization !== undefined) return bearerToken(headers.authorization);
  const sent = headers["x-api-key"];
  return typeof sent === "string" && sent !== "" ? sent : null;
}

const CHALLENGE = 'Bearer realm="partner-orders"';

/**
 * RFC 6750, section 3.1: the error is named only if a key was sent. Unknown, revoked and expired keys get the same
 * response.
 * @param sent what callers of the listener send
 */
export const unauthorized = (headers: IncomingHttpHeaders, sent: "key" | "token" = "key"): Problem => {
  const keySent = headers.authorization !== undefined || headers["x-api-key"] !== undefined;
  return {
    code: "unauthorized",
    detail: keySent
      ? `The ${sent === "key" ? "API key" : sent} is not valid.`
      : `Send a ${sent} as Authorization: Bearer <${sent}>.`,
    headers: { "www-authenticate": keySent ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE },
  };
};
