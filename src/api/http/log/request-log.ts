import type { Logger } from "pino";
import { openLines } from "../../../platform/log.ts";

/** What the log contains of a request. Never its path, its query or its body: they contain ids, texts and personal data. */
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
 * Writes one line for each request (decision 0100). The lines are made by hand and written many at a time: about a
 * microsecond each, where the logger would take seven.
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
