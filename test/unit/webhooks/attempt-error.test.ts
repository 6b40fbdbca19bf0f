import { errors } from "undici";
import { expect, it } from "vitest";
import { failureOf } from "../../../src/webhooks/delivery/exchange.ts";
import { attemptErrorCode } from "../../../src/webhooks/log/delivery.ts";

it.each([
  ["HTTP 500", "http_status"],
  ["HTTP 301", "http_status"],
  ["timeout", "timeout"],
  ["DNS lookup failed", "dns_failed"],
  ["address is not public", "address_not_public"],
  ["name has no public address", "address_not_public"],
  ["connection refused", "connection_refused"],
  ["connection closed", "connection_closed"],
  ["TLS: certificate expired", "tls_failed"],
  ["TLS: handshake failed", "tls_failed"],
  ["invalid HTTP response", "invalid_response"],
  ["response too large", "response_too_large"],
  ["too many interim responses", "response_too_large"],
  ["URL is not https", "url_not_https"],
  ["canceled", "canceled"],
  ["outcome unknown: the worker ended during the attempt", "outcome_unknown"],
  ["request not sent", "not_sent"],
])("the code of %s is %s", (error, code) => expect(attemptErrorCode(error)).toBe(code));

it.each([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_DESTROYED",
  "CERT_HAS_EXPIRED",
  "EPROTO",
])("the phrase for %s has a code of its own", (code) => {
  const error = Object.assign(new Error("other"), { code });
  expect(attemptErrorCode(failureOf(error))).not.toBe("not_sent");
});

it("a parser's error is an invalid response", () =>
  expect(attemptErrorCode(failureOf(new errors.HTTPParserError("x")))).toBe("invalid_response"));
