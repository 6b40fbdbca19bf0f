import { isIP } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { messageOf } from "../operations/metrics.ts";
import { MINUTE_MS } from "../platform/time.ts";
import { type BackOffice, type BackOfficeResponse, readResponse } from "./back-office.ts";
import type { BackOfficeRequest } from "./commands/command.ts";
import { OutputError, ServiceUnavailableError, UsageError } from "./output.ts";

/** How long each may take, in milliseconds. */
export type TimeLimits = {
  readonly responseMs: number;
  readonly uploadMs: number;
  /** Between two parts of a file. */
  readonly partMs: number;
};
/** No statement of the service takes a minute. It gives an import ten minutes to arrive, and then stores it. */
const TIME_LIMITS: TimeLimits = { responseMs: MINUTE_MS, uploadMs: 15 * MINUTE_MS, partMs: MINUTE_MS };
/** A page of the API is far smaller. It bounds the memory for an address that is not the service. */
const RESPONSE_BYTES_MAX = 64 * 1_024 * 1_024;

type Sending = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly mediaType?: string;
  readonly body?: string | Readable;
};

/** The back office of a running service, over HTTP with a token. Redirects are not followed, so that the token stays. */
export function openOverHttp(address: ServiceAddress, limits: TimeLimits = TIME_LIMITS): BackOffice {
  return {
    send: async (request) => {
      const deadline = deadlineOf(limits.responseMs);
      return guarded(address, request.method, deadline, async () =>
        read(address, await send(address, sendingOf(request), deadline)),
      );
    },
    upload: async (path, mediaType, bytes) => {
      const deadline = deadlineOf(limits.uploadMs);
      return guarded(address, "POST", deadline, async () =>
        read(address, await send(address, { method: "POST", path, mediaType, body: bytes }, deadline)),
      );
    },
    download: async (request, write) => {
      const deadline = deadlineOf(limits.partMs);
      return guarded(address, request.method, deadline, async () => {
        const response = await send(address, sendingOf(request), deadline);
        if (response.status >= 400 || !isOurs(response)) return read(address, response);
        for await (const part of partsOf(response)) {
          deadline.stop();
          await write(part);
          deadline.restart();
        }
        return { status: response.status, text: "", body: {} };
      });
    },
    close: async () => undefined,
  };
}

const sendingOf = ({ method, path, query, body }: BackOfficeRequest): Sending => ({
  method,
  path: Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query)}`,
  ...(body !== null && { mediaType: "application/json", body: JSON.stringify(body) }),
});

async function send(
  { url, token }: ServiceAddress,
  { method, path, mediaType, body }: Sending,
  { signal }: Deadline,
): Promise<Response> {
  return fetch(`${url.origin}${url.pathname.replace(/\/+$/, "")}${path}`, {
    method,
    redirect: "manual",
    signal,
    headers: {
      accept: "application/json, text/csv, application/x-ndjson",
      authorization: `Bearer ${token}`,
      ...(mediaType !== undefined && { "content-type": mediaType }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : streamOf(body), duplex: "half" }),
  });
}

// Node declares the stream of the web twice: for fetch and for node:stream.
const streamOf = (body: Readable) => Readable.toWeb(body) as ReadableStream & globalThis.ReadableStream;

async function read(address: ServiceAddress, response: Response): Promise<BackOfficeResponse> {
  if (!isOurs(response)) throw notOurs(address.url, response);
  const decoder = new TextDecoder();
  let [text, byteCount] = ["", 0];
  for await (const part of partsOf(response)) {
    byteCount += part.length;
    if (byteCount > RESPONSE_BYTES_MAX) throw notOurs(address.url, response);
    text += decoder.decode(part, { stream: true });
  }
  const nextCursor = response.headers.get("next-cursor");
  const shown = readResponse(response.status, response.headers.get("content-type") ?? "", nextCursor, text);
  const fault = notBackOffice(address.url, shown);
  if (fault !== null) throw fault;
  const hint = hintOf(address.url, shown);
  return hint === null ? shown : { ...shown, hint };
}

/** The body of a response without one is null. */
async function* partsOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body;
}

/** Aborts what uses `signal` after a time, unless it is stopped. */
type Deadline = { readonly signal: AbortSignal; stop(): void; restart(): void };

function deadlineOf(timeoutMs: number): Deadline {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(new TimeoutError(timeoutMs)), timeoutMs);
  let timer = start();
  return {
    signal: controller.signal,
    stop: () => clearTimeout(timer),
    restart: () => {
      clearTimeout(timer);
      timer = start();
    },
  };
}

class TimeoutError extends Error {
  readonly code = "ETIMEDOUT";
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs / 1_000} s`);
  }
}

/** Reports in one sentence why no response came. */
async function guarded(
  { url }: ServiceAddress,
  method: string,
  deadline: Deadline,
  work: () => Promise<BackOfficeResponse>,
): Promise<BackOfficeResponse> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceUnavailableError || error instanceof OutputError) throw error;
    throw faultOf(url, method, error);
  } finally {
    deadline.stop();
  }
}

const MEDIA_TYPES =
  /^(application\/(problem\+)?json|text\/csv|application\/x-ndjson|application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)\b/;

/** Whether a response can be the service's: each has the id of the request, and JSON or a file. */
const isOurs = ({ status, headers }: Response): boolean =>
  headers.has("x-request-id") && (status === 204 || MEDIA_TYPES.test(headers.get("content-type") ?? ""));

/** Another server responded: a proxy, or a page of something else. */
function notOurs(url: URL, { status, headers }: Response): ServiceUnavailableError {
  const target = headers.get("location");
  if (status >= 300 && status < 400 && target !== null)
    return new ServiceUnavailableError(
      `${at(url)} redirects to ${shown(target)}: use the address of the back office itself.`,
    );
  const type = headers.get("content-type") ?? "no content type";
  return new ServiceUnavailableError(
    `${at(url)} is not the back office of Partner Orders: it returned ${status} with ${shown(type)}.`,
  );
}

/** A service of ours responded, but not a back office that knows the request: null if it does. */
function notBackOffice(url: URL, { status, body }: BackOfficeResponse): ServiceUnavailableError | null {
  const detail = String(body["detail"]);
  if (status !== 404 || !detail.startsWith("No route matches")) return null;
  return new ServiceUnavailableError(
    `${at(url)} is not the address of a back office of this version, and may be the partner API: ${shown(detail)}`,
  );
}

/** What the operator can do about a problem that is not about the request. */
function hintOf(url: URL, { status }: BackOfficeResponse): string | null {
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
function faultOf(url: URL, method: string, error: unknown): ServiceUnavailableError {
  const code = codeOf(error);
  const [, cause] = CAUSES.find(([codes]) => codes.test(code)) ?? [];
  const reason = cause?.(url) ?? messageOf(causeOf(error));
  const isUncertain = method !== "GET" && !NOT_SENT.test(code);
  const advice = isUncertain
    ? " The service may have carried out the request: check before you repeat it."
    : "";
  return new ServiceUnavailableError(
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

/** Where the back office of a running service is, and the token that it accepts. */
type ServiceAddress = { readonly url: URL; readonly token: string };

/**
 * Reads the address and the token. Null without an address: the command then works beside the database. The token is
 * never an argument, because other users of the machine can read the arguments of a process.
 * @param option the value of `--url`
 * @throws UsageError
 */
export function readServiceAddress(
  option: string | undefined,
  environment: NodeJS.ProcessEnv,
): ServiceAddress | null {
  const text = option ?? environment["PARTNER_ORDERS_URL"] ?? "";
  if (text === "") {
    if (option !== undefined) throw new UsageError("--url must be the address of the back office.");
    return null;
  }
  return {
    url: readUrl(text, option === undefined ? "PARTNER_ORDERS_URL" : "--url"),
    token: readToken(environment),
  };
}

function readUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  // The text is not repeated: it may contain a password.
  if (
    url === null ||
    !isHttp ||
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== ""
  )
    throw new UsageError(
      `${name} must be the address of the back office, such as https://back-office.example.com, without a user name or a query.`,
    );
  return url;
}

function readToken(environment: NodeJS.ProcessEnv): string {
  const token = (environment["PARTNER_ORDERS_TOKEN"] || environment["OPERATOR_TOKEN"] || "").trim();
  if (token === "")
    throw new UsageError(
      "A token is missing: set PARTNER_ORDERS_TOKEN, or OPERATOR_TOKEN, in the environment.",
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("The token in the environment has spaces or characters that are not ASCII.");
  return token;
}

/** True if requests leave this machine without encryption. */
export function isUnencrypted({ protocol, hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const isLocal = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  return protocol === "http:" && !isLocal;
}
