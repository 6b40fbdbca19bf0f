import { errors } from "undici";

/** What the partner can mend; every other fault of a certificate is `certificate not valid`. */
const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "certificate expired",
  CERT_NOT_YET_VALID: "certificate not valid yet",
  CERT_REVOKED: "certificate revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "self-signed certificate",
  UNABLE_TO_GET_ISSUER_CERT: "unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknown issuer",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate for another name",
};

const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "name not found",
  ENODATA: "name not found",
  EAI_AGAIN: "name not found",
  EAI_FAIL: "name not found",
  EAI_NODATA: "name not found",
  EAI_NONAME: "name not found",
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
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "answer not valid",
  UND_ERR_CLOSED: "canceled",
  UND_ERR_DESTROYED: "canceled",
  UND_ERR_ABORTED: "canceled",
};

/** The connection was refused by our own rule; see public-address.ts. */
export class AddressNotPublicError extends Error {
  constructor() {
    super("address not public");
    this.name = "AddressNotPublicError";
  }
}

/** Nothing is sent in the clear. */
export class NotHttpsError extends Error {
  constructor() {
    super("not https");
    this.name = "NotHttpsError";
  }
}

/**
 * Why a try failed, in a few stable words that the partner may read: they tell nothing of this machine, and a library's
 * own text never gets through.
 */
export function failureOf(error: Error): string {
  if (error instanceof AddressNotPublicError || error instanceof NotHttpsError) return error.message;
  const code = "code" in error ? String(error.code) : "";
  const known = FAILURES[code];
  // The client has one code for a connection that ended and for an answer that made it end the connection.
  if (code === "UND_ERR_SOCKET" && error.message.startsWith("bad ")) return "answer not valid";
  if (known !== undefined) return known;
  if (error instanceof errors.HTTPParserError) return "answer not valid";
  if (isAboutCertificate(code)) return `tls: ${TLS_REASONS[code] ?? "certificate not valid"}`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_"))
    return "tls: handshake failed";
  return "not sent";
}

/** The codes of a failed verification are OpenSSL's own, without a common beginning. */
const isAboutCertificate = (code: string): boolean =>
  code in TLS_REASONS ||
  /^(CERT|CRL|UNABLE_TO|ERROR_IN_C|SELF_SIGNED|DEPTH_ZERO|INVALID_|PATH_LENGTH|HOSTNAME_)/.test(code);
