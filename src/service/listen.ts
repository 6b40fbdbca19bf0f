import { lookup } from "node:dns/promises";
import type { Logger } from "pino";
import { readOpenFilesMax, StartError } from "../platform/environment.ts";
import { atMostEvery } from "../platform/log.ts";
import { within } from "../platform/run-in-turn.ts";
import { SECOND_MS } from "../platform/time.ts";

/** The part of an HTTP listener that `src/app` uses. */
export type Listener = {
  listen(address: { host: string; port: number; reusePort?: boolean }): Promise<string>;
  close(): Promise<unknown>;
  readonly server: { closeAllConnections(): void };
};

/** Where a listener listens, and the variable that sets it. */
type Address = {
  readonly host: string;
  readonly port: number;
  readonly variable: "PORT" | "BACK_OFFICE_PORT";
  /** Whether other processes listen on it too, among which the system shares out the connections. */
  readonly reusePort?: boolean;
};

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another program",
  EACCES: "may not be used without further rights",
};

const NOT_OF_THIS_MACHINE = ["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"];

/**
 * Returns the address of the listener. A name with several addresses, as `localhost` may have, means the first IPv4 one: for
 * each further one Fastify would open a server of its own, without the limits of connections and without an orderly stop.
 * @throws StartError
 */
export async function listen(
  app: Pick<Listener, "listen">,
  { host, port, variable, reusePort = false }: Address,
): Promise<string> {
  try {
    const { address } = await lookup(host, { order: "ipv4first" });
    return await app.listen({ host: address, port, ...(reusePort && { reusePort }) });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException; // Node throws errors of the system.
    if (NOT_OF_THIS_MACHINE.includes(code))
      throw new StartError(`${host} is not an address of this machine: set HOST to one that is.`);
    const reason = REASONS[code];
    if (reason === undefined) throw error;
    throw new StartError(`Port ${port} ${reason}: set ${variable} to a free port.`);
  }
}

/** When the service stops, a request that is not finished after this time is cut off. Less than `DRAIN_MS` of stop.ts. */
const REQUESTS_MS = 4_500;

export async function closeListener(app: Listener): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), REQUESTS_MS);
  await app.close();
  clearTimeout(cutOff);
}

/**
 * The part of the process's open files that the connections of each listener may use. The rest is for webhooks, the
 * database and files. What partners use, the back office and health never lack.
 */
const PARTS = { partners: 0.5, "back-office": 0.1 } as const;

type LimitedServer = {
  maxConnections: number;
  on(event: "drop", listener: () => void): unknown;
};

/** Connections that a listener may have at the same time. */
export const connectionsMax = (listener: keyof typeof PARTS, openFiles = readOpenFilesMax()): number =>
  Math.floor(PARTS[listener] * openFiles);

/** Closes further connections at once, and logs that at most once a second. */
export function limitConnections(server: LimitedServer, max: number, log: Logger): void {
  server.maxConnections = max;
  const logRefused = atMostEvery(SECOND_MS, (_: undefined, count) =>
    log.warn({ count, max }, "connections refused: the listener has its maximum"),
  );
  server.on("drop", () => logRefused(undefined));
}

/**
 * The longest stop, with the delay before it: operators and their tools send SIGKILL after ten seconds. Each part of it has a
 * limit of its own, and a test adds them up (docs/design/database.md, "Starting and stopping").
 */
export const STOP_MS = 9_000;
/** Listeners, jobs and deliveries, at the same time. What is not finished then continues without a listener or is lost. */
export const DRAIN_MS = 5_000;
/** The time left for the database if everything before took its limit. */
export const CLOSE_MIN_MS = 500;

type StopStep = { readonly name: string; stop(): Promise<unknown> };

/**
 * The order of stopping: first the entry points (listeners, jobs, deliveries), at the same time, then their resources, in
 * reverse order.
 */
export type Stops = { readonly entryPoints: StopStep[]; readonly resources: StopStep[] };

/**
 * Ends everything that was started, by a deadline. A step that needs longer is logged and left behind: what it had not
 * committed is rolled back, and its leases expire, as after a crash.
 */
export async function stopAll(
  { entryPoints, resources }: Stops,
  log: Logger,
  endsAtMs: number,
): Promise<void> {
  await Promise.all(entryPoints.map((step) => end(step, DRAIN_MS, log)));
  for (const step of resources.toReversed())
    await end(step, Math.max(CLOSE_MIN_MS, endsAtMs - performance.now()), log);
}

async function end({ name, stop }: StopStep, ms: number, log: Logger): Promise<void> {
  try {
    await within(ms, stop());
  } catch (err) {
    log.warn({ err, step: name }, "part of the service not stopped, left behind");
  }
}
