import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";

/**
 * Structured logs, one JSON object a line. Errors are written with their type, message, code and stack
 * only: driver errors also contain the values of the failed row, such as names and addresses.
 */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: "partner-orders" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, req: () => undefined, res: () => undefined },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint, table, cause } = error as Error & Record<string, unknown>;
  return {
    ...{ type: error.name, message: error.message, code, constraint, table, stack: error.stack },
    ...(cause instanceof Error && { cause: describeError(cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(describeError) }),
  };
}

/**
 * Limits how often something is written, such as a log line: the first time at once, then at most once in `everyMs`, with
 * the newest value and the number of times since the last one.
 */
export function atMostEvery<T>(
  everyMs: number,
  write: (newest: T, count: number) => void,
): (value: T) => void {
  let unwritten: { newest: T; count: number } | null = null;
  let isPausing = false;

  function writeNow(): void {
    isPausing = unwritten !== null;
    if (unwritten === null) return;
    const { newest, count } = unwritten;
    unwritten = null;
    setTimeout(writeNow, everyMs).unref();
    write(newest, count);
  }

  return (value) => {
    unwritten = { newest: value, count: (unwritten?.count ?? 0) + 1 };
    if (!isPausing) writeNow();
  };
}
