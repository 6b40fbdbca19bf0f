import { messageOf } from "../../monitoring/error-message.ts";
import { UnavailableError } from "../failure.ts";
import type { BackOfficeResponse } from "./back-office.ts";

const MEDIA_TYPES = /^(application\/(problem\+)?json|text\/csv|application\/x-ndjson)\b/;

/** Whether a response can be the service's: each has the id of the request, and JSON or a file. */
export const isOurs = ({ status, headers }: Response): boolean =>
  headers.has("x-request-id") && (status === 204 || MEDIA_TYPES.test(headers.get("content-type") ?? ""));

/** Another server responded: a proxy, or a page of something else. */
export function notOurs(url: URL, { status, headers }: Response): UnavailableError {
  const target = headers.get("location");
  if (status >= 300 && status < 400 && target !== null)
    return new UnavailableError(
      `${at(url)} redirects to ${shown(target)}: use the address of the back office itself.`,
    );
  const type = headers.get("content-type") ?? "no content type";
  return new UnavailableError(
    `${at(url)} is not the back office of Partner Orders: it returned ${status} with ${shown(type)}.`,
  );
}

/** A service of ours responded, but not a back office that knows the request: null if it does. */
export function notBackOffice(url: URL, { status, body }: BackOfficeResponse): UnavailableError | null {
  const detail = String(body["detail"]);
  if (status !== 404 || !detail.startsWith("No route matches")) return null;
  return new UnavailableError(
    `${at(url)} is not the address of a back office of this version, and may be the partner API: ${shown(detail)}`,
  );
}

/** What the operator can do about a problem that is not about the request. */
export function hintOf(url: URL, { status }: BackOfficeResponse): string | null {
  if (status === 401)
    return `${at(url)} does not accept the token in PARTNER_ORDERS_TOKEN or OPERATOR_TOKEN.`;
  if (status === 403) return "The token is valid, but its role does not allow this command.";
  return null;
}

/** Codes of Node and OpenSSL, and what they mean to the operator. */
const CAUSES: readonly (readonly [RegExp, (url: URL) => string])[] = [
  [/^ECONNREFUSED$/, () => "the connection was refused. Check the address, and that the service runs"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, () => "the name of the host is not known"],
  [/^(ETIMEDOUT|UND_ERR_\w*TIMEOUT)$/, () => "there was no response in time"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, () => "the connection was closed without a complete response"],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, () => "the network does not reach it"],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    () => "the server does not use TLS on this port. Use http://",
  ],
  [/^HPE_/, () => "the server does not speak HTTP on this port. Does the address begin with https://?"],
  [/^CERT_HAS_EXPIRED$/, () => "its TLS certificate has expired"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, (url) => `its TLS certificate is not for ${url.hostname}`],
  [
    /CERT|UNABLE_TO_|SELF_SIGNED/,
    () => "its TLS certificate is not trusted. Set NODE_EXTRA_CA_CERTS to the certificate of its authority",
  ],
];

/** Why no response came, as one sentence. A request that changes something may have been done. */
export function faultOf(url: URL, method: string, error: unknown): UnavailableError {
  const code = codeOf(error);
  const [, cause] = CAUSES.find(([codes]) => codes.test(code)) ?? [];
  const reason = cause?.(url) ?? messageOf(causeOf(error));
  const isUncertain = method !== "GET" && !NOT_SENT.test(code);
  const advice = isUncertain
    ? " The service may have carried out the request: check before you repeat it."
    : "";
  return new UnavailableError(
    `${at(url)} cannot be used: ${reason}${code === "" ? "" : ` (${code})`}.${advice}`,
  );
}

/** Without a connection, nothing was sent. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_|CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_)/;

/** `fetch` throws a TypeError whose cause is the error; an error for several addresses has one for each. */
function causeOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0]);
  return error instanceof TypeError && error.cause !== undefined ? causeOf(error.cause) : error;
}

function codeOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
}

const at = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, "")}`;

/** Texts of another server: a terminal must not get its control characters from them. */
const shown = (text: string): string =>
  text.slice(0, 200).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
