import { enumeration } from "../../platform/wire/schemas.ts";

const ATTEMPT_ERROR_CODES = [
  "http_status",
  "timeout",
  "dns_failed",
  "address_not_public",
  "connection_refused",
  "connection_closed",
  "host_unreachable",
  "tls_failed",
  "invalid_response",
  "response_too_large",
  "url_not_https",
  "canceled",
  "outcome_unknown",
  "not_sent",
] as const;
type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

export const AttemptErrorCodeSchema = enumeration(
  "DeliveryErrorCode",
  ATTEMPT_ERROR_CODES,
  [
    "Why an attempt failed, for programs. More values may be added.",
    "`http_status`: the response is not 2xx.",
    "`timeout`: there was no complete response in time.",
    "`dns_failed`: the DNS lookup failed.",
    "`address_not_public`: the address, or an address of the name, is not public, or the name has none.",
    "`connection_refused`: nothing listens at the address.",
    "`connection_closed`: the connection ended before the response did.",
    "`host_unreachable`: there is no way to the address.",
    "`tls_failed`: the certificate is not valid, or TLS failed otherwise.",
    "`invalid_response`: the response is not HTTP.",
    "`response_too_large`: the response exceeds a limit.",
    "`url_not_https`: the URL does not begin with https.",
    "`canceled`: the service stopped during the attempt, and sends again.",
    "`outcome_unknown`: the worker ended during the attempt.",
    "`not_sent`: the request could not be sent for another reason.",
  ].join(" "),
);

/** By the phrase that is stored; see send-failure.ts. */
const CODES: Readonly<Record<string, AttemptErrorCode>> = {
  timeout: "timeout",
  "DNS lookup failed": "dns_failed",
  "address is not public": "address_not_public",
  "name has no public address": "address_not_public",
  "connection refused": "connection_refused",
  "connection reset": "connection_closed",
  "connection closed": "connection_closed",
  "host unreachable": "host_unreachable",
  "invalid HTTP response": "invalid_response",
  "headers too large": "response_too_large",
  "response too large": "response_too_large",
  "too many interim responses": "response_too_large",
  "URL is not https": "url_not_https",
  canceled: "canceled",
};

/** The code of a stored error (decision 0099). The phrase decides, so that attempts of any age have one. */
export function attemptErrorCode(error: string): AttemptErrorCode {
  if (error.startsWith("HTTP ")) return "http_status";
  if (error.startsWith("TLS: ")) return "tls_failed";
  if (error.startsWith("outcome unknown")) return "outcome_unknown";
  return CODES[error] ?? "not_sent";
}
