import {
  type FailedRequest,
  NetworkError,
  type OperationId,
  type PartnerOrdersError,
  ProblemError,
  TimeoutError,
  UnexpectedResponseError,
} from "./errors.ts";
import { OPERATIONS } from "./generated/operations.ts";
import type { Problem } from "./generated/types.ts";
import { List, type Page } from "./list.ts";

/** How a client reaches the service. */
export type ClientOptions = {
  /** Address of the service, such as `https://orders.example`, without `/v1`. */
  readonly baseUrl: string;
  /** Key of the connection. Only `testKeys.create` works without one. */
  readonly key?: string;
  /** Milliseconds that one attempt may take, with its body. Default: 30 000. */
  readonly timeoutMs?: number;
  /** How often a request is sent at most, if it can be repeated safely. Default: 4; 1 never repeats. */
  readonly attemptsMax?: number;
  /** Milliseconds that a pause may take at most. If `Retry-After` asks for more, the error is thrown. Default: 60 000. */
  readonly pauseMsMax?: number;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Called after each attempt, for logs and metrics. */
  readonly onAttempt?: (attempt: Attempt) => void;
};

/** What one request may set for itself. */
export type RequestOptions = {
  /** Ends the request and its pauses. The request throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Instead of the client's `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Instead of the client's `attemptsMax`. */
  readonly attemptsMax?: number;
};

/** One attempt of a request. */
export type Attempt = FailedRequest & {
  /** The HTTP status. Null without a response. */
  readonly status: number | null;
  /** Milliseconds that it took. */
  readonly durationMs: number;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The parts of a request. */
export type Call = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
};

/** A successful response. */
export type Reply<T> = { readonly status: number; readonly body: T };

const PAUSE_MS = 500;

/** Sends the requests of a client, and repeats those that may be repeated. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    const { protocol, origin, pathname } = new URL(options.baseUrl);
    if (!/^https?:$/.test(protocol)) throw new TypeError("baseUrl must begin with https:// or http://.");
    this.#options = options;
    this.#base = origin + pathname.replace(/\/+$/, "");
  }

  /** Returns the response of the service, or throws a {@link PartnerOrdersError}. */
  async send<T>(operation: OperationId, call: Call = {}, own: RequestOptions = {}): Promise<Reply<T>> {
    const { attemptsMax = 4, pauseMsMax = 60_000 } = { ...this.#options, ...defined(own) };
    const request = this.#request(operation, call);
    let isOutcomeKnown = true;
    for (let attempts = 1; ; attempts += 1) {
      const reply = await this.#attempt<T>(operation, request, attempts, own);
      if (!(reply instanceof Error)) return reply;
      if (isGone(operation, reply) && !isOutcomeKnown) return { status: 204, body: undefined as T };
      if (!isRepeatable(operation, reply) || attempts >= attemptsMax) throw reply;
      isOutcomeKnown &&= statusOf(reply) === 429;
      const askedMs = ((reply instanceof ProblemError && reply.retryAfterSeconds) || 0) * 1_000;
      if (askedMs > pauseMsMax) throw reply;
      const ownMs = Math.min(PAUSE_MS * 2 ** (attempts - 1), pauseMsMax);
      // Varied, so that clients that failed together do not return together.
      await pause(Math.max(askedMs, ownMs / 2) + (Math.random() * ownMs) / 2, own.signal);
    }
  }

  /** The body of the response. */
  async request<T>(operation: OperationId, call?: Call, options?: RequestOptions): Promise<T> {
    return (await this.send<T>(operation, call, options)).body;
  }

  list<T>(operation: OperationId, query: Query = {}, options?: RequestOptions): List<T> {
    return new List((cursor) =>
      this.request<Page<T>>(
        operation,
        { query: cursor === undefined ? query : { ...query, cursor } },
        options,
      ),
    );
  }

  /** Everything that is wrong with the call itself throws here, before anything is sent. */
  #request(operation: OperationId, { path = {}, query = {}, body, idempotencyKey }: Call) {
    const [method, pattern] = OPERATIONS[operation];
    const url = new URL(
      this.#base + pattern.replace(/\{(\w+)\}/g, (_match, name) => segment(name, path[name])),
    );
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ accept: "application/json" });
    if (this.#options.key !== undefined) headers.set("authorization", `Bearer ${this.#options.key}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    if (idempotencyKey !== undefined) headers.set("idempotency-key", inHeader(idempotencyKey));
    // A redirect is not followed, so that the key goes to no other address.
    const init: RequestInit = { method, headers, redirect: "manual" };
    if (body !== undefined) init.body = JSON.stringify(body);
    return { url, init };
  }

  async #attempt<T>(
    operation: OperationId,
    { url, init }: { url: URL; init: RequestInit },
    attempts: number,
    { signal, timeoutMs = this.#options.timeoutMs ?? 30_000 }: RequestOptions,
  ): Promise<Reply<T> | PartnerOrdersError> {
    signal?.throwIfAborted();
    const { fetch = globalThis.fetch, onAttempt } = this.#options;
    const startedAt = Date.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    let status: number | null = null;
    let requestId: string | null = null;
    try {
      const response = await fetch(url, {
        ...init,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      status = response.status;
      requestId = response.headers.get("x-request-id");
      const text = await response.text();
      return replyOf<T>(response, text, { operation, attempts, requestId });
    } catch (cause) {
      signal?.throwIfAborted();
      const failed = { operation, attempts, requestId };
      return timeout.aborted
        ? new TimeoutError(`no response within ${timeoutMs} ms`, failed, { cause })
        : new NetworkError(`no response: ${reasonOf(cause)}`, failed, { cause });
    } finally {
      onAttempt?.({ operation, attempts, requestId, status, durationMs: Date.now() - startedAt });
    }
  }
}

function replyOf<T>(response: Response, text: string, request: FailedRequest): Reply<T> | PartnerOrdersError {
  const { status, ok, headers } = response;
  if (status === 204) return { status, body: undefined as T };
  const body = parsed(text);
  if (ok && body !== undefined) return { status, body: body as T }; // The service promises it in its description.
  const problem = body as Problem | undefined;
  if (!ok && typeof problem?.code === "string" && problem.status === status)
    return new ProblemError(problem, {
      ...request,
      retryAfterSeconds: secondsOf(headers.get("retry-after")),
    });
  return new UnexpectedResponseError(status, request);
}

/** `fetch` says only that it failed. Its cause has the address and why, where there is one. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error && error.cause.message !== ""
    ? error.cause.message
    : String(error);

const statusOf = (error: PartnerOrdersError): number => (error instanceof ProblemError ? error.status : 0);

/** The classes are those of `x-retry` in the OpenAPI document. */
function isRepeatable(operation: OperationId, error: PartnerOrdersError): boolean {
  const canActTwice = OPERATIONS[operation][2] === "rejected";
  if (!(error instanceof ProblemError))
    return !canActTwice && !(error instanceof UnexpectedResponseError && error.status < 500);
  const { problem } = error;
  // A request that waited too long for its turn may have begun.
  if (problem.code === "rate-limited") return !canActTwice || problem.limit !== "waiting-requests";
  return !canActTwice && [500, 503].includes(error.status);
}

/** A repeated deletion does not find what its lost attempt has deleted. */
const isGone = (operation: OperationId, error: PartnerOrdersError): boolean =>
  OPERATIONS[operation][2] === "until-gone" && statusOf(error) === 404;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds of `Retry-After`, which is a number or a date. */
function secondsOf(text: string | null): number | null {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** `.` and `..` would change the path, and with it what is requested. */
function segment(name: string, value: unknown): string {
  if (typeof value !== "string" || /^\.{0,2}$/.test(value))
    throw new TypeError(`${name} must be a text other than "", "." and "..".`);
  return encodeURIComponent(value);
}

/** Headers are bytes. The service reads them as UTF-8. */
const inHeader = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

/** Options that are given as undefined are absent. */
const defined = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T; // Only fewer members.

/** Resolves after a time, or rejects with the reason of the signal. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
