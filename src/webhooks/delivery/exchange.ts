import { createHmac, type KeyObject } from "node:crypto";
import type { Socket } from "node:net";
import { type Dispatcher, errors } from "undici";
import { readVersion } from "../../platform/config.ts";
import { LookupFailedError, NoSuchNameError } from "./public-lookup.ts";

const KEPT_BYTES = 1_024;
/** Responses such as 103, before the actual one. */
const INTERIM_MAX = 5;

/** The result of a request. The caller decides by `responseStatus` and `error` whether it was a success. */
export type SendResult = {
  /** From the call to the end of the response, in whole milliseconds of a monotonic clock. */
  durationMs: number;
  /** Null when no response began. Present beside an `error` when a response began and broke off. */
  responseStatus: number | null;
  /** The first 1024 bytes of the response as text that can be stored, "" for an empty body. Null without a response. */
  responseBody: string | null;
  /** A fixed phrase; see send-failure.ts. Null when the response was read to its end or to the limit. */
  error: string | null;
  /** The header, unchanged. */
  retryAfter: string | null;
};

/**
 * One request and its response, as a handler of the client. A stream for the response and an abort signal would cost more
 * than all other work here.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Among those in flight. */
  position = 0;
  readonly #resolve: (result: SendResult) => void;
  /** Of a monotonic clock, in milliseconds. */
  readonly startedAt = performance.now();
  #controller: Dispatcher.DispatchController | null = null;
  #isEnded = false;
  #status: number | null = null;
  #retryAfter: string | null = null;
  #chunks: Buffer[] = [];
  #readBytes = 0;
  #interimCount = 0;

  constructor(resolve: (result: SendResult) => void) {
    this.#resolve = resolve;
  }

  /** The connection is open, and nothing is written yet. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isEnded) controller.abort(new Error("The deadline has passed."));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData["headers"],
  ) {
    if (status < 200) {
      this.#interimCount += 1;
      if (this.#interimCount > INTERIM_MAX) this.end("too many interim responses");
      return;
    }
    const retryAfter = headers["retry-after"];
    this.#status = status;
    this.#retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#readBytes < KEPT_BYTES) this.#chunks.push(chunk);
    this.#readBytes += chunk.length;
  }

  /** The response was read to its end, so the connection can be reused. */
  onResponseEnd(): void {
    // The client frees the connection one turn of the event loop later, and schedules that after this call. A request that
    // is sent before would open another connection.
    this.#end(null, (finish) => process.nextTick(setImmediate, finish));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // All that is kept of the body is there: the status counts, and the rest is not read.
    const isKept = error instanceof ResponseTooLargeError && this.#readBytes >= KEPT_BYTES;
    this.end(isKept ? null : failureOf(error));
  }

  end(error: string | null): void {
    this.#end(error, (finish) => finish());
    this.#controller?.abort(new Error("The send has ended."));
  }

  #end(error: string | null, then: (finish: () => void) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const result = {
      durationMs: Math.round(performance.now() - this.startedAt),
      responseStatus: this.#status,
      responseBody: this.#status === null ? null : keptText(this.#chunks),
      error,
      retryAfter: this.#retryAfter,
    };
    then(() => this.#resolve(result));
  }
}

/** The first bytes as text that PostgreSQL can store: without NUL, and without a cut character. */
export function keptText(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return "";
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  const kept = bytes.length <= KEPT_BYTES ? bytes : bytes.subarray(0, characterStart(bytes, KEPT_BYTES));
  return kept.toString("utf8").replaceAll("\0", "\ufffd");
}

/** The start of the UTF-8 character at a position; the position itself if the bytes are not UTF-8. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start -= 1) if (((bytes[start] ?? 0) & 0xc0) !== 0x80) return start;
  return at;
}

type Timed = {
  position: number;
  /** Of `performance.now()`. */
  readonly startedAt: number;
  end(error: string): void;
};

/**
 * Ends exchanges that take too long. One timer serves all of them: it expires at the deadline of the oldest one, and begins
 * again for the oldest of those that are left. A timer for each would be set and cleared with every request.
 */
export class Deadline {
  readonly #inFlight: InFlight<Timed>;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(inFlight: InFlight<Timed>, timeoutMs: number) {
    this.#inFlight = inFlight;
    this.#timeoutMs = timeoutMs;
  }

  /** Call this after an exchange has begun. One that began before it has an earlier deadline. */
  watch(): void {
    this.#timer ??= this.#endAfter(this.#timeoutMs);
  }

  #endAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#endOverdue(), ms).unref();
  }

  #endOverdue(): void {
    this.#timer = null;
    const now = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const exchange of this.#inFlight.all()) {
      const leftMs = exchange.startedAt + this.#timeoutMs - now;
      if (leftMs <= 0) exchange.end("timeout");
      else nextMs = Math.min(nextMs, leftMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#timer = this.#endAfter(nextMs);
  }
}

/** Knows its own position, so that it is removed without a search. */
type Positioned = { position: number };

/**
 * What is in flight, in no order. Not a `Set`: at thousands of changes a second, a `Set` makes the collector keep nearly all
 * that was ever in it until it collects everything (docs/design/performance.md, "Garbage").
 */
export class InFlight<Thing extends Positioned> {
  readonly #things: Thing[] = [];

  get isEmpty(): boolean {
    return this.#things.length === 0;
  }

  all(): readonly Thing[] {
    return [...this.#things];
  }

  add(thing: Thing): void {
    thing.position = this.#things.push(thing) - 1;
  }

  /** Removes something that was added. The last one takes its position. */
  remove(thing: Thing): void {
    const last = this.#things.pop();
    if (last === undefined || last === thing) return;
    last.position = thing.position;
    this.#things[thing.position] = last;
  }
}

/**
 * What the client may parse of one response, whatever it is: status texts, header fields, chunk sizes and extensions, body,
 * trailers. A shorter body is read to its end although less of it is kept, because the connection can then be used again: a
 * further TLS handshake would cost more.
 */
export const PARSED_MAX_BYTES = 24 * 1_024;
/** What the client parses at a time. */
const PIECE_BYTES = 4 * 1_024;

/** `HTTP/1.1 ` */
const STATUS_AT = 9;
const [ZERO, ONE, TWO, LF, CR] = Buffer.from("012\n\r");

/**
 * Turns `100 Continue` into `102`, which the client skips as HTTP says: it takes an unrequested 100 for an error. Only one
 * byte differs, so the response may arrive in any pieces.
 */
class InterimStatus {
  /** Of the next byte in its response; null once the actual response has begun. */
  #at: number | null = 0;
  /** Whether all bytes of the status so far are those of 100. */
  #isContinue = true;
  #lineBytes = 0;

  restart(): void {
    [this.#at, this.#isContinue, this.#lineBytes] = [0, true, 0];
  }

  pass(piece: Buffer): void {
    for (let index = 0; this.#at !== null && index < piece.length; index += 1) this.#passByte(piece, index);
  }

  #passByte(piece: Buffer, index: number): void {
    const at = this.#at ?? 0;
    const byte = piece[index];
    this.#at = at + 1;
    if (at === STATUS_AT && byte !== ONE) this.#at = null;
    if (at > STATUS_AT && at <= STATUS_AT + 2 && byte !== ZERO) this.#isContinue = false;
    if (at === STATUS_AT + 2 && this.#isContinue) piece[index] = TWO ?? 0;
    if (byte === LF && this.#lineBytes === 0) this.restart();
    else if (byte === LF) this.#lineBytes = 0;
    else if (byte !== CR) this.#lineBytes += 1;
  }
}

/**
 * Gives the client what has arrived in small pieces, and ends the connection at the limit, before the client parses more. The
 * client has a limit of its own for header fields, but parses what it has to the end, and makes an error for each further
 * field: 60 ms for 64 KiB of short ones.
 */
function limitReads(socket: Socket): void {
  const read = socket.read.bind(socket);
  const interim = new InterimStatus();
  let [parsed, sent] = [0, 0];
  socket.read = (size?: number): unknown => {
    if (size !== undefined) return read(size); // Of the stream itself, which gets no data.
    if (socket.destroyed) return null;
    // Only a request is ever sent, so a further one began when more was sent.
    if (socket.bytesWritten !== sent) {
      [parsed, sent] = [0, socket.bytesWritten];
      interim.restart();
    }
    if (parsed >= PARSED_MAX_BYTES) {
      socket.destroy(new ResponseTooLargeError());
      return null;
    }
    const piece = socket.readableLength > PIECE_BYTES ? read(PIECE_BYTES) : read();
    if (piece === null) return null;
    interim.pass(piece);
    parsed += piece.length;
    return piece;
  };
}

/** What may be received for one request, with what TLS itself receives. */
const RECEIVED_MAX_BYTES = 256 * 1_024;
/** Finds what arrives without being announced as readable, such as records of TLS. */
const CHECK_EVERY_MS = 250;

/** The receiver sends more than any response needs. */
class ResponseTooLargeError extends Error {
  constructor() {
    super("response too large");
    this.name = "ResponseTooLargeError";
  }
}

/** What a socket had received and sent when its limit began to count. */
type Counts = { received: number; sent: number };

/**
 * Ends sockets that receive too much for one request (docs/design/signing.md, "Look-ups"), at the latest with twice the limit.
 */
export class ReadLimit {
  readonly #sockets = new Map<Socket, Counts>();
  #timer: NodeJS.Timeout | null = null;

  get socketCount(): number {
    return this.#sockets.size;
  }

  /** @param connected the event after which a request is sent */
  watch(socket: Socket, connected: "connect" | "secureConnect"): void {
    limitReads(socket);
    const counts = { received: 0, sent: 0 };
    this.#sockets.set(socket, counts);
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_EVERY_MS).unref();
    socket.once("close", () => this.#forget(socket));
    socket.once(connected, () => {
      // After the client has read: the sender may have ended the exchange because of a long body, which is no failure.
      socket.on("readable", () => {
        if (isBeyond(socket, counts)) process.nextTick(checkSocket, socket, counts);
      });
    });
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #checkAll(): void {
    for (const [socket, counts] of this.#sockets) checkSocket(socket, counts);
  }
}

const isBeyond = (socket: Socket, counts: Counts): boolean =>
  receivedBytes(socket) - counts.received > RECEIVED_MAX_BYTES;

/** What was sent is looked at only when many responses together reach the limit. */
function checkSocket(socket: Socket, counts: Counts): void {
  if (!isBeyond(socket, counts) || socket.destroyed) return;
  const [received, sent] = [receivedBytes(socket), socket.bytesWritten];
  // Only a request is ever sent, so a further one began when more was sent.
  if (sent === counts.sent) socket.destroy(new ResponseTooLargeError());
  else Object.assign(counts, { received, sent });
}

/** With TLS, `bytesRead` counts what was decrypted. The handle below counts what arrived. */
function receivedBytes(socket: Socket): number {
  // Not part of Node's documented interface. If it is missing, what was decrypted is still counted.
  const { _handle: handle } = socket as { _handle?: { _parent?: { bytesRead?: number } } | null };
  return Math.max(socket.bytesRead, handle?._parent?.bytesRead ?? 0);
}

/** The headers that every request has. */
export const COMMON_HEADERS = {
  "content-type": "application/json",
  "user-agent": `PartnerOrders/${readVersion()}`,
} as const;

type Signable = {
  /** The event's id: the same for every attempt, so that the partner can recognize duplicates. It contains no dot. */
  id: string;
  /** When this attempt is sent, in whole seconds. Receivers reject requests that are too old. */
  timestamp: Date;
  /** The exact body that is sent. */
  body: string | Buffer;
  /** Newest first. During a rotation the older keys sign as well. The partner's library accepts any of the signatures. */
  keys: readonly KeyObject[];
};

export type SignedHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/** The headers by which a partner verifies who sent a body and when: Standard Webhooks 1.0.0, symmetric (`v1`). */
export function signedHeaders({ id, timestamp, body, keys }: Signable): SignedHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const prefix = `${id}.${seconds}.`;
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": keys.map((key) => `v1,${signatureOf(prefix, body, key)}`).join(" "),
  };
}

const signatureOf = (prefix: string, body: string | Buffer, key: KeyObject): string =>
  createHmac("sha256", key).update(prefix).update(body).digest("base64");

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
 * A name has no address, or one that is not public. One error for both: from two the partner would learn which names exist in
 * our own network (docs/design/signing.md, "Look-ups").
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

/** The service itself has closed the connection in the middle of a body. */
export class CutOffError extends Error {
  constructor() {
    super("cut off by a rehearsed fault");
    this.name = "CutOffError";
  }
}

/** Errors whose message is meant for the partner. */
const OWN_ERRORS = [
  AddressNotPublicError,
  NoPublicAddressError,
  NotHttpsError,
  ResponseTooLargeError,
  CutOffError,
];

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
