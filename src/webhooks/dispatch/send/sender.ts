import { Agent, type Dispatcher } from "undici";
import { readVersion } from "../../../platform/config.ts";
import { type Resolve, resolveAll } from "../../endpoints/public-address.ts";
import { createGuardedConnector } from "./guarded-connector.ts";
import { failureOf } from "./send-failure.ts";

const READ_MAX_BYTES = 16 * 1_024;
const KEPT_BYTES = 1_024;

export type SendRequest = {
  url: string;
  /** In addition to `content-type` and `user-agent`, which every request has. */
  headers: Readonly<Record<string, string>>;
  /** Text is sent in UTF-8. */
  body: string | Buffer;
};

/** What came of a send. Whether it was a success is for the caller to decide, by `responseStatus` and `error`. */
export type SendResult = {
  /** From the call to the end of the response, in whole milliseconds of a monotonic clock. */
  durationMs: number;
  /**
   * Null: no response began. It may be present together with an `error`, if the response began correctly and broke off.
   */
  responseStatus: number | null;
  /** The first 1024 bytes of the response as storable text, "" if it had none; null without a response. */
  responseBody: string | null;
  /** A few fixed phrases; see send-failure.ts. Null: the response arrived completely, or as far as we read. */
  error: string | null;
  /** The header as it came. */
  retryAfter: string | null;
};

export type Sender = {
  /** One POST and its response. It never rejects, and ends by the deadline whatever the receiver does. */
  send(request: SendRequest): Promise<SendResult>;
  /** Origins that connections are kept for; those fall away some seconds after their last use. */
  originCount(): number;
  /** Ends early, as `canceled`, what is under way. */
  cancelAll(): void;
  /** Takes no more, waits for what is under way, closes all connections. */
  close(): Promise<void>;
};

type SenderSettings = {
  /** One deadline over looking up, connecting, sending and reading. */
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  lookup?: Resolve;
};

/**
 * Sends webhooks over persistent connections. It follows no redirect, uses no proxy, and verifies certificates. Any
 * number of requests to one origin run in parallel: many endpoints may share an origin, and the limit of requests in
 * flight belongs to the endpoint, so it is not enforced here.
 */
export function createSender({
  timeoutMs,
  allowPrivateNetworks,
  lookup = resolveAll,
}: SenderSettings): Sender {
  const agent = new Agent({
    connect: createGuardedConnector({ timeoutMs, allowPrivateNetworks, lookup }),
    allowH2: false,
    pipelining: 1,
    // The single deadline replaces these. They start again with every byte, so a slow drip would never end.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const commonHeaders = ["content-type", "application/json", "user-agent", `PartnerOrders/${readVersion()}`];

  const underWay = new Set<Exchange>();
  let whenIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  function send({ url, headers, body }: SendRequest): Promise<SendResult> {
    return new Promise((resolve) => {
      const settle = (outcome: SendResult) => {
        underWay.delete(exchange);
        if (underWay.size === 0) whenIdle?.();
        resolve(outcome);
      };
      const exchange = new Exchange(settle, timeoutMs);
      underWay.add(exchange);
      if (closing !== null) return exchange.end("canceled");
      const target = URL.parse(url);
      if (target === null) return exchange.end("request not sent");
      const { origin, pathname, search } = target;
      const allHeaders = commonHeaders.slice();
      for (const name in headers) allHeaders.push(name, headers[name] ?? "");
      agent.dispatch(
        { origin, path: pathname + search, method: "POST", headers: allHeaders, body },
        exchange,
      );
    });
  }

  async function end(): Promise<void> {
    await new Promise<void>((resolve) => {
      whenIdle = resolve;
      if (underWay.size === 0) resolve();
    });
    await agent.destroy(); // A normal close would wait for connections that are no longer needed.
  }

  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  function cancelAll(): void {
    for (const exchange of underWay) exchange.end("canceled");
  }

  return { send, cancelAll, originCount: () => Object.keys(agent.stats).length, close };
}

/**
 * One request and its response, as the client's own handler: a stream for the response and a signal with its listeners
 * would cost more than all other work here.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (outcome: SendResult) => void;
  readonly #startedAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isEnded = false;
  #status: number | null = null;
  #retryAfter: string | null = null;
  #chunks: Buffer[] = [];
  #readBytes = 0;

  constructor(resolve: (outcome: SendResult) => void, timeoutMs: number) {
    this.#resolve = resolve;
    // Node keeps all timers of one length in one list, so this one costs next to nothing.
    this.#deadline = setTimeout(() => this.end("timeout"), timeoutMs);
  }

  /** The connection is there and nothing is written yet. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isEnded) controller.abort(new Error("The deadline has passed."));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData["headers"],
  ) {
    if (status < 200) return; // Only announces the response.
    const retryAfter = headers["retry-after"];
    this.#status = status;
    this.#retryAfter = (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#readBytes < KEPT_BYTES) this.#chunks.push(chunk);
    this.#readBytes += chunk.length;
    // Enough to know what the receiver thinks, and its status counts; the connection cannot be used again.
    if (this.#readBytes > READ_MAX_BYTES) this.end(null);
  }

  /** A short response was read to its end, so the connection can be used again. */
  onResponseEnd(): void {
    // The client waits a turn of the event loop before it does so. Who sends again at once would only make it open
    // another connection, and as many more as it has in flight.
    this.#end(null, (settle) => queueMicrotask(() => setImmediate(settle)));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.end(failureOf(error));
  }

  end(error: string | null): void {
    this.#end(error, (settle) => settle());
    this.#controller?.abort(new Error("The send has ended."));
  }

  #end(error: string | null, then: (settle: () => void) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    const outcome = {
      durationMs: Math.round(performance.now() - this.#startedAt),
      responseStatus: this.#status,
      responseBody: this.#status === null ? null : keptText(this.#chunks),
      error,
      retryAfter: this.#retryAfter,
    };
    then(() => this.#resolve(outcome));
  }
}

/** The first bytes as text that PostgreSQL can hold: no NUL, and no character cut in two. */
function keptText(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return "";
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  const kept = bytes.length <= KEPT_BYTES ? bytes : bytes.subarray(0, characterStart(bytes, KEPT_BYTES));
  return kept.toString("utf8").replaceAll("\0", "\ufffd");
}

/** Where the UTF-8 character at a place begins; the place itself when that is not UTF-8. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4; start -= 1) if (((bytes[start] ?? 0) & 0xc0) !== 0x80) return start;
  return at;
}
