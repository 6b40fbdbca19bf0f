import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { atMostEvery, openLines } from "../platform/log.ts";
import { type Clock, SECOND_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";

/** The log line of a request. Never its path, its query or its body: they contain ids, texts and personal data. */
type LoggedRequest = {
  /** Null: the input never became a request. */
  readonly method: string | null;
  /** The pattern of the route. Null: no route matched. */
  readonly route: string | null;
  /** Null: the client closed the connection before the response was sent. */
  readonly status: number | null;
  /** Null: it was not measured, because there was no complete request or no response. */
  readonly durationMs: number | null;
  /** Members of the line that name the caller, as JSON. Empty: the caller is not known. */
  readonly caller: string;
  readonly requestId: string;
  readonly problem: string | null;
};

/** A request that could not be read. */
export const UNREAD = { method: null, route: null, durationMs: null, caller: "" } as const;

export type RequestLog = {
  write(request: LoggedRequest): void;
  /** Writes lines that wait. No line may be written afterwards. */
  close(): void;
};

/**
 * Writes one line for each request (docs/design/api-conventions.md, "Request log"). The lines are made by hand and written many
 * at a time: about a microsecond each, where the logger would take seven.
 * @param sample the part of the requests that is logged, from 0 to 1. Errors of the service are always logged.
 */
export function requestLog(log: Logger, sample: number, random: () => number = Math.random): RequestLog {
  if (!log.isLevelEnabled("info")) return { write: () => undefined, close: () => undefined };
  const lines = openLines(log, "request");
  return {
    write(request) {
      const isServerError = request.status !== null && request.status >= 500;
      if (isServerError || sample >= 1 || random() < sample) lines.write(membersOf(request));
    },
    close: lines.close,
  };
}

/** All of these are texts of our own, or were checked to contain nothing that JSON escapes. */
function membersOf({ requestId, method, route, status, durationMs, caller, problem }: LoggedRequest): string {
  const duration = durationMs === null ? null : Math.round(durationMs * 1_000) / 1_000;
  const response = `"status":${status},"durationMs":${duration}`;
  const rest = `${caller === "" ? "" : `,${caller}`}${problem === null ? "" : `,"problem":"${problem}"`}`;
  return `"reqId":"${requestId}","method":${quoted(method)},"route":${quoted(route)},${response}${rest}`;
}

const quoted = (text: string | null): string => (text === null ? "null" : `"${text}"`);

declare module "fastify" {
  interface FastifyRequest {
    /** The path of the row of the route table that matched. Null for other routes. */
    row: string | null;
    /** The code of the problem that the response contains. Null if it contains none. */
    problemCode: Problem["code"] | null;
  }
  interface FastifyContextConfig {
    /** Successful requests are not logged: monitoring sends them every few seconds. */
    isMonitoring?: boolean;
  }
}

/**
 * Logs each request of a listener once, when its response was sent or its client has closed the connection.
 * @param membersOf the members of a line that name the caller, as JSON
 */
export function addRequestLog(
  app: FastifyInstance,
  requests: RequestLog,
  membersOf: (caller: object) => string,
): void {
  app.decorateRequest("row", null);
  app.decorateRequest("problemCode", null);

  const log = (request: FastifyRequest, status: number | null, durationMs: number | null): void =>
    requests.write({
      requestId: request.id,
      method: request.method,
      // Fastify makes the options of a route when they are read, so only rare routes read them.
      route: request.row ?? request.routeOptions?.url ?? null,
      status,
      durationMs,
      caller: request.caller === null ? "" : membersOf(request.caller),
      problem: request.problemCode,
    });

  app.addHook("onResponse", (request, reply, done) => {
    if (!isQuiet(request, reply)) log(request, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.addHook("onRequestAbort", (request, done) => {
    log(request, null, null);
    done();
  });
  app.addHook("onClose", async () => requests.close());
}

const isQuiet = (request: FastifyRequest, { statusCode }: FastifyReply): boolean =>
  request.row === null && statusCode < 400 && request.routeOptions.config.isMonitoring === true;

/** Callers whose members are kept. Beyond them all are made again. */
const CALLERS_MAX = 4_096;

/**
 * Returns the members of a log line that name a caller, as JSON. They are kept, because most requests come from few
 * callers, and a TypeID alone takes a microsecond.
 */
export function callerMembers<Caller>(
  keyOf: (caller: Caller) => string,
  describe: (caller: Caller) => object,
): (caller: Caller) => string {
  const kept = new Map<string, string>();
  return (caller) => {
    const key = keyOf(caller);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const members = JSON.stringify(describe(caller)).slice(1, -1);
    if (kept.size >= CALLERS_MAX) kept.clear();
    kept.set(key, members);
    return members;
  };
}

/** At most one line in this time, so that a caller with a wrong key cannot fill the log. */
const LINE_INTERVAL_MS = 10 * SECOND_MS;

/** Logs a failed authentication. Never the key: another system may accept it. */
export type LogFailedAuthentication = (failure: {
  readonly address: string;
  readonly requestId: string;
  /** The id of the key, if it is known, but revoked or expired. */
  readonly keyId?: string | undefined;
  /** The same for a token of the back office. */
  readonly tokenId?: string | undefined;
}) => void;

/** A line is about one failure, and has the number of failures since the line before. */
export function failedAuthenticationLog(log: Logger, clock: Clock): LogFailedAuthentication {
  let count = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (failure) => {
    count += 1;
    const nowMs = clock.now().getTime();
    if (nowMs - loggedAtMs < LINE_INTERVAL_MS) return;
    const { requestId: reqId, ...others } = failure;
    log.warn({ reqId, ...others, count }, "authentication failed");
    count = 0;
    loggedAtMs = nowMs;
  };
}

/** Logs requests that failed. While the database is unavailable, many do: one line a second has their number. */
export function failureLog(
  log: Logger,
): (err: Error, request: FastifyRequest, isUnavailable: boolean) => void {
  const write = (err: Error, { id, method, routeOptions }: FastifyRequest, count: number): void =>
    log.error({ err, count, reqId: id, method, route: routeOptions.url }, "request failed");
  const writeUnavailable = atMostEvery<[Error, FastifyRequest]>(SECOND_MS, ([err, request], count) =>
    write(err, request, count),
  );
  return (err, request, isUnavailable) =>
    isUnavailable ? writeUnavailable([err, request]) : write(err, request, 1);
}
