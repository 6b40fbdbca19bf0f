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
