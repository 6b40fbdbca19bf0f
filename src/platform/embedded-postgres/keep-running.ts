import { NoPrimaryError, type Servers } from "../database/servers/primary-client.ts";
import { pause } from "../pause.ts";
import { MINUTE_MS } from "../time.ts";
import { MissingClusterError } from "./postgres-cluster.ts";
import type { Server } from "./postgres-server.ts";

const ATTEMPTS_WITHIN_MS = MINUTE_MS;
/**
 * The pauses before the attempts to restart a server within this time; the last one is repeated. A server that fails to
 * start as often in a row is given up.
 */
const PAUSES_MS: readonly number[] = [0, 1_000, 2_000, 5_000, 10_000];

/** What a caller learns of a server that ended although it is needed. */
export type Guard = {
  /** For the operator. */
  warn(fields: object, message: string): void;
  /** The server cannot be started. Called once at most. */
  onGivenUp(error: Error): void;
};

export type KeptServer = {
  /** Where the server listens now: a restarted one has another port. */
  readonly servers: Servers;
  /** Keeps it no longer. @returns the server that runs; null if none does */
  release(): Promise<Server | null>;
};

/**
 * Restarts the server when it has ended, or connects to it again when it has recovered from the crash of one of its
 * processes. It notices both at the connection that it keeps (decision 0159).
 * @param provide finds the server that runs, also one that another process has restarted, or starts one
 */
export function keepRunning(
  first: Server,
  provide: () => Promise<Server>,
  guard: Guard,
  pausesMs = PAUSES_MS,
): KeptServer {
  const stopping = new AbortController();
  const attempts: number[] = [];
  let server: Server | null = null;
  let restart = Promise.resolve();
  use(first);

  function use(provided: Server): void {
    server = provided;
    provided.connection.once("end", () => {
      server = null;
      if (!stopping.signal.aborted) restart = restore(provided.pid);
    });
  }

  async function restore(lostPid: number): Promise<void> {
    guard.warn({ pid: lostPid }, "embedded PostgreSQL lost, restarting it");
    for (let failures = 0; await waitForTurn(); ) {
      try {
        const provided = await provide();
        use(provided);
        const { pid, port } = provided;
        if (pid === lostPid) attempts.pop(); // It recovered on its own, as it does for each crash of a session.
        return guard.warn({ pid, port }, "embedded PostgreSQL runs again");
      } catch (error) {
        if (error instanceof MissingClusterError) return guard.onGivenUp(error);
        failures += 1;
        if (failures === pausesMs.length) return guard.onGivenUp(cannotStart(failures, error));
        guard.warn({ err: error }, "embedded PostgreSQL not restarted, will try again");
      }
    }
  }

  /** Pauses before an attempt. Returns false if there is to be none. */
  async function waitForTurn(): Promise<boolean> {
    while (attempts.length > 0 && performance.now() - (attempts[0] ?? 0) > ATTEMPTS_WITHIN_MS)
      attempts.shift();
    const pauseMs = pausesMs[Math.min(attempts.length, pausesMs.length - 1)] ?? 0;
    attempts.push(performance.now());
    await pause(pauseMs, stopping.signal);
    return !stopping.signal.aborted;
  }

  return {
    servers: {
      find: async () => {
        if (server === null) throw new NoPrimaryError("The embedded PostgreSQL is being restarted.");
        return { host: "127.0.0.1", port: server.port };
      },
      failed: () => undefined, // Its connection shows whether it runs.
    },
    async release() {
      stopping.abort();
      await restart;
      return server;
    },
  };
}

const cannotStart = (attempts: number, cause: unknown): Error =>
  new Error(`The embedded PostgreSQL could not be restarted in ${attempts} attempts.`, { cause });
