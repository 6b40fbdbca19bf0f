import { hostname } from "node:os";
import { type DestinationStream, type Logger, pino } from "pino";
import { type Config, type LogLevel, readVersion } from "./config.ts";
import { isOutOfReach } from "./database/database.ts";

const VERSION = readVersion();
const chindingsSym: typeof pino.symbols.chindingsSym = pino.symbols.chindingsSym;
const streamSym: typeof pino.symbols.streamSym = pino.symbols.streamSym;

/**
 * Structured logs, one JSON object a line. Errors are written with their type, message, code and stack
 * only: driver errors also contain the values of the failed row, such as names and addresses.
 */
export function createLog(
  level: LogLevel,
  destination?: DestinationStream,
  roles?: Config["roles"],
  processName?: string | null,
): Logger {
  const options = {
    level,
    base: {
      service: "partner-orders",
      version: VERSION,
      ...(roles && { roles: [...roles] }),
      // Which one of several processes of a command.
      ...(processName && { process: processName }),
      // Of this process: its number, and the machine or the container that it runs in.
      pid: process.pid,
      hostname: hostname(),
    },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, req: () => undefined, res: () => undefined },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Lines of one message that are too frequent to be made by the logger. */
type Lines = {
  /** Adds a line with these members, as JSON. */
  write(members: string): void;
  close(): void;
};

/** Lines wait until there are this many characters, or for this time. */
const WAITING_MAX = 16_384;
const WAITING_MS = 100;

/** Those that hold lines when the process ends. */
const openedLines = new Set<() => void>();
process.once("exit", () => {
  for (const flush of openedLines) flush();
});

/**
 * Writes lines of level `info` like the logger, with its members. The time of a line is that of its call, but it is
 * written up to a tenth of a second later, together with others. Lines are lost only if the process is killed.
 */
export function openLines(log: Logger, message: string): Lines {
  // pino's own symbols, with what it keeps there: the destination, and the members of all lines as JSON.
  const internals = log as unknown as {
    [streamSym]: DestinationStream;
    [chindingsSym]: string;
  };
  const [head, tail] = ['{"level":"info","time":"', `,"msg":${JSON.stringify(message)}}\n`];
  let waiting = "";
  let [timeMs, time] = [0, ""];

  function flush(): void {
    const lines = waiting;
    waiting = "";
    if (lines !== "") internals[streamSym].write(lines);
  }

  openedLines.add(flush);
  return {
    write(members) {
      const nowMs = Date.now();
      if (nowMs !== timeMs) [timeMs, time] = [nowMs, new Date(nowMs).toISOString()];
      if (waiting === "") setTimeout(flush, WAITING_MS).unref();
      waiting += `${head}${time}"${internals[chindingsSym]},${members}${tail}`;
      if (waiting.length >= WAITING_MAX) flush();
    },
    close() {
      flush();
      openedLines.delete(flush);
    },
  };
}

function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint, table, cause } = error as Error & Record<string, unknown>;
  return {
    type: error.name,
    message: error.message,
    code,
    constraint,
    table,
    // A database that is away is no error of the code, and many calls report it.
    ...(!isOutOfReach(error) && { stack: error.stack }),
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
