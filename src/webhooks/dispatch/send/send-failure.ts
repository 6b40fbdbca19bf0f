import { errors } from "undici";
import { LookupFailedError, NoSuchNameError } from "../names/lookup-errors.ts";
import { ResponseTooLargeError } from "./read-limit.ts";

/** Certificate errors that the partner can fix. All others are `invalid certificate`. */
const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "certificate expired",
  CERT_NOT_YET_VALID: "certificate is not valid yet",
  CERT_REVOKED: "certificate revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "self-signed certificate",
  UNABLE_TO_GET_ISSUER_CERT: "unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknown issuer",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate name mismatch",
};

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  ECONNABORTED: "connection reset",
  EHOSTUNREACH: "host unreachable",
  EHOSTDOWN: "host unreachable",
  ENETUNREACH: "host unreachable",
  ENETDOWN: "host unreachable",
  EADDRNOTAVAIL: "host unreachable",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_SOCKET: "connection closed",
  UND_ERR_HEADERS_OVERFLOW: "headers too large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid HTTP response",
  UND_ERR_CLOSED: "canceled",
  UND_ERR_DESTROYED: "canceled",
  UND_ERR_ABORTED: "canceled",
};

/** Our own rule rejected the connection to an address that the URL contains; see public-address.ts. */
export class AddressNotPublicError extends Error {
  constructor() {
    super("address is not public");
    this.name = "AddressNotPublicError";
  }
}

/**
 * A name has no address, or one that is not public. One error for both: from two the partner would learn which names exist
 * in our own network (decision 0062).
 */
export class NoPublicAddressError extends Error {
  constructor() {
    super("name has no public address");
    this.name = "NoPublicAddressError";
  }
}

/** Nothing is sent unencrypted. */
export class NotHttpsError extends Error {
  constructor() {
    super("URL is not https");
    this.name = "NotHttpsError";
  }
}

/** Errors whose message is meant for the partner. */
const OWN_ERRORS = [AddressNotPublicError, NoPublicAddressError, NotHttpsError, ResponseTooLargeError];

/**
 * Why an attempt failed, in a few fixed phrases for the partner. They reveal nothing about this machine, and never contain
 * a library's own text.
 */
export function failureOf(error: Error): string {
  if (OWN_ERRORS.some((type) => error instanceof type)) return error.message;
  if (error instanceof NoSuchNameError || error instanceof LookupFailedError) return "DNS lookup failed";
  const code = "code" in error ? String(error.code) : "";
  const known = FAILURES[code];
  // The client uses one code for a connection that ended and for a response that made it end the connection.
  if (code === "UND_ERR_SOCKET" && error.message.startsWith("bad ")) return "invalid HTTP response";
  if (known !== undefined) return known;
  if (error instanceof errors.HTTPParserError) return "invalid HTTP response";
  if (isAboutCertificate(code)) return `TLS: ${TLS_REASONS[code] ?? "invalid certificate"}`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_"))
    return "TLS: handshake failed";
  return "request not sent";
}

/** The codes of a failed verification are OpenSSL's own and have no common prefix. */
const isAboutCertificate = (code: string): boolean =>
  code in TLS_REASONS ||
  /^(CERT|CRL|UNABLE_TO|ERROR_IN_C|SELF_SIGNED|DEPTH_ZERO|INVALID_|PATH_LENGTH|HOSTNAME_)/.test(code);
