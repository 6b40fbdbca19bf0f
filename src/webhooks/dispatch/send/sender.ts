import { Agent, type Dispatcher } from "undici";
import { NameLookup, type Resolve } from "../names/name-lookup.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import { InFlight } from "./in-flight.ts";
import { COMMON_HEADERS } from "./request-headers.ts";
import { failureOf } from "./send-failure.ts";

const READ_MAX_BYTES = 16 * 1_024;
/** A receiver may request to keep a socket open, but not for longer. */
const KEEP_ALIVE_MAX_MS = 10_000;
const KEPT_BYTES = 1_024;
/** Responses such as 103, before the actual one. */
const INTERIM_MAX = 5;

export type SendRequest = {
  /** The connection that it is sent for. Absent if there is none. */
  connectionId?: string;
  url: URL;
  /** In addition to `content-type` and `user-agent`, which every request has. */
  headers: Readonly<Record<string, string>>;
  /** Text is sent in UTF-8. */
  body: string | Buffer;
};

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

export type Sender = {
  /** Sends one POST and reads the response. Never rejects, and always ends by the deadline. */
  send(request: SendRequest): Promise<SendResult>;
  /** The number of origins with open connections. These close some seconds after their last use. */
  originCount(): number;
  /** Ends all requests in flight, as `canceled`. */
  cancelAll(): void;
  /** Accepts no more requests, waits for those in flight, and closes all connections. */
  close(): Promise<void>;
};

type SenderSettings = {
  /** One deadline for lookup, connection, request and response. */
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  /** While so many sockets are open, none is kept for a further request. */
  socketsKeptMax?: number;
  /** For tests. Default: the DNS. */
  lookup?: Resolve;
};

/**
 * Sends webhooks over connections that are reused. It follows no redirects, uses no proxy, and verifies certificates. The
 * number of concurrent requests to an origin is not limited here: many endpoints may share an origin, and the limit is one
 * of the endpoint.
 */
export function createSender(settings: SenderSettings): Sender {
  const { timeoutMs } = settings;
  const client = openClient(settings);
  const commonHeaders = Object.entries(COMMON_HEADERS).flat();

  const inFlight = new InFlight<Exchange>();
  let whenIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  function send({ connectionId = "", url, headers, body }: SendRequest): Promise<SendResult> {
    return new Promise((resolve) => {
      const finish = (result: SendResult) => {
        inFlight.remove(exchange);
        if (inFlight.isEmpty) whenIdle?.();
        resolve(result);
      };
      const exchange = new Exchange(finish, timeoutMs);
      inFlight.add(exchange);
      if (closing !== null) return exchange.end("canceled");
      const { origin, pathname, search } = url;
      const allHeaders = commonHeaders.slice();
      for (const name in headers) allHeaders.push(name, headers[name] ?? "");
      const path = pathname + search;
      client.dispatch(connectionId, { origin, path, method: "POST", headers: allHeaders, body }, exchange);
    });
  }

  async function end(): Promise<void> {
    await new Promise<void>((resolve) => {
      whenIdle = resolve;
      if (inFlight.isEmpty) resolve();
    });
    await client.close();
  }

  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  function cancelAll(): void {
    for (const exchange of inFlight.all()) exchange.end("canceled");
  }

  return { send, cancelAll, originCount: client.originCount, close };
}

/** The HTTP client of a sender. It knows for which connection it opens a socket. */
function openClient({
  timeoutMs,
  allowPrivateNetworks,
  socketsKeptMax = Number.POSITIVE_INFINITY,
  lookup,
}: SenderSettings) {
  const names = new NameLookup({ allowPrivateNetworks });
  const resolve = lookup ?? names.resolve;
  /** The connection whose request is being dispatched: the agent opens a socket for it within that call. */
  let dispatchingFor = "";
  const { connect, socketCount } = createGuardedConnector({
    timeoutMs,
    allowPrivateNetworks,
    lookup: (name) => resolve(name, dispatchingFor),
  });
  const agent = new Agent({
    connect,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    allowH2: false,
    pipelining: 1,
    // The deadline takes their place. They start again with every byte, so a slow response would never end.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function dispatch(connectionId: string, request: Dispatcher.DispatchOptions, exchange: Exchange): void {
    dispatchingFor = connectionId;
    agent.dispatch({ ...request, reset: socketCount() >= socketsKeptMax }, exchange);
    dispatchingFor = "";
  }

  async function close(): Promise<void> {
    names.close();
    await agent.destroy(); // `close` would wait for idle connections.
  }

  return { dispatch, close, originCount: () => Object.keys(agent.stats).length };
}

/**
 * One request and its response, as a handler of the client. A stream for the response and an abort signal would cost more
 * than all other work here.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** Among those in flight. */
  position = 0;
  readonly #resolve: (result: SendResult) => void;
  readonly #startedAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isEnded = false;
  #status: number | null = null;
  #retryAfter: string | null = null;
  #chunks: Buffer[] = [];
  #readBytes = 0;
  #interimCount = 0;

  constructor(resolve: (result: SendResult) => void, timeoutMs: number) {
    this.#resolve = resolve;
    // Node keeps all timers of one length in one list, so this one costs very little.
    this.#deadline = setTimeout(() => this.end("timeout"), timeoutMs);
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
    // The status counts, and the rest is not read, so the connection cannot be reused.
    if (this.#readBytes > READ_MAX_BYTES) this.end(null);
  }

  /** The response was read to its end, so the connection can be reused. */
  onResponseEnd(): void {
    // The client frees the connection one turn of the event loop later. A request that is sent before would open another
    // connection.
    this.#end(null, (finish) => queueMicrotask(() => setImmediate(finish)));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.end(failureOf(error));
  }

  end(error: string | null): void {
    this.#end(error, (finish) => finish());
    this.#controller?.abort(new Error("The send has ended."));
  }

  #end(error: string | null, then: (finish: () => void) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    const result = {
      durationMs: Math.round(performance.now() - this.#startedAt),
      responseStatus: this.#status,
      responseBody: this.#status === null ? null : keptText(this.#chunks),
      error,
      retryAfter: this.#retryAfter,
    };
    then(() => this.#resolve(result));
  }
}

/** The first bytes as text that PostgreSQL can store: without NUL, and without a cut character. */
function keptText(chunks: readonly Buffer[]): string {
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
