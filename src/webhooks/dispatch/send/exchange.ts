import type { Dispatcher } from "undici";
import { failureOf } from "./send-failure.ts";

const READ_MAX_BYTES = 16 * 1_024;
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
    // The status counts, and the rest is not read, so the connection cannot be reused.
    if (this.#readBytes > READ_MAX_BYTES) this.end(null);
  }

  /** The response was read to its end, so the connection can be reused. */
  onResponseEnd(): void {
    // The client frees the connection one turn of the event loop later, and schedules that after this call. A request that
    // is sent before would open another connection.
    this.#end(null, (finish) => process.nextTick(setImmediate, finish));
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
