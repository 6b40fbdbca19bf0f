import { chmod, open } from "node:fs/promises";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { makeDataDir } from "../data-dir.ts";
import { NoPrimaryError, type Servers } from "../database/servers.ts";
import { StartError } from "../environment.ts";
import { pause } from "../run-in-turn.ts";
import { MINUTE_MS } from "../time.ts";
import {
  type Cluster,
  clusterIn,
  createCluster,
  findBinaries,
  isCreated,
  MissingClusterError,
  postgresAccount,
  readOrMakePassword,
  rejectDisappeared,
  rejectForeignOwner,
  rejectMissing,
  SUPERUSER,
} from "./cluster.ts";
import {
  announceLeaving,
  connectToRunningServer,
  isUnused,
  keepProcessAlive,
  launchServer,
  readPidFile,
  type Server,
  shutDown,
} from "./server.ts";

const DATABASE = "partner_orders";
/** Long enough for another process that recovers the cluster after a crash. */
const LOCK_TIMEOUT_MS = 300_000;
const LOCK_TIMEOUT_ON_STOP_MS = 5_000;
/** Applies even if the server hangs. The service has 10 s from SIGTERM to its end. */
const STOP_MAX_MS = 6_000;

export type EmbeddedPostgres = {
  /** `postgres://user:password@127.0.0.1:port/partner_orders`, as a superuser; good until the server stops. */
  url: string;
  /** Where the server listens now, also after a restart. */
  servers: Servers;
  /**
   * Stops the server, unless another client is connected and keeps it running. Close your own pools first. Takes at
   * most 6 s; a server that needs longer stops later. May be called more than once.
   */
  stop(): Promise<void>;
};

/**
 * Provides a real PostgreSQL whose cluster is in `<dataDir>/postgres`. Uses the server that already runs on it, or
 * starts one. Creates the cluster and the database if they are missing. The server survives this process until
 * `stop()`, and does not keep the process alive. Any number of processes may call this at the same time: they get the
 * same server.
 * @param options.dataDir created if missing; also contains `postgres-password`, `postgres.log`, `postgres.lock`.
 * @param options.settings added to PostgreSQL's configuration. They override ours, except the address to listen on, and
 *   have no effect on a server that is already running. `fsync: "off"` also speeds up creating the cluster.
 * @param options.mayCreate false for commands that only read, so that a mistyped folder does not get an empty cluster
 * @param options.log receives one sentence about what was found or started.
 * @param options.guard without it, a server that ends is not restarted.
 * @throws Error for the operator, with the end of `postgres.log`, if the server does not start; one that suggests
 *   DATABASE_URL, if this machine cannot run the server at all; one that names the folder, if it contains no cluster
 *   and none may be created.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  settings?: Record<string, string>;
  mayCreate?: boolean;
  log?: (message: string) => void;
  guard?: Guard;
}): Promise<EmbeddedPostgres> {
  const { settings = {}, mayCreate = true, log = () => {}, guard } = options;
  const cluster = clusterIn(resolve(options.dataDir));
  if (!mayCreate) rejectMissing(cluster);
  await makeDataDir(cluster.dataDir);
  const password = await withLock(cluster, () => readOrMakePassword(cluster));
  const server = await provideServer(cluster, password, settings);
  log(`PostgreSQL runs on port ${server.port}, with its data in ${cluster.directory}.`);

  const restart = async (): Promise<Server> => {
    rejectDisappeared(cluster);
    return await provideServer(cluster, password, settings);
  };
  const kept = guard === undefined ? leftAlone(server) : keepRunning(server, restart, guard);
  let stopped: Promise<void> | undefined;
  return {
    url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${server.port}/${DATABASE}`,
    servers: kept.servers,
    stop: () =>
      (stopped ??= Promise.race([
        kept.release().then((running) => (running === null ? undefined : stop(cluster, running, log))),
        delay(STOP_MAX_MS, undefined, { ref: false }),
      ])),
  };
}

const leftAlone = (server: Server): KeptServer => ({
  servers: { find: async () => null, failed: () => undefined },
  release: async () => server,
});

/** The server that runs, or a new one, with its database. */
const provideServer = (
  cluster: Cluster,
  password: string,
  settings: Record<string, string>,
): Promise<Server> =>
  withLock(cluster, async () => {
    const server =
      (await connectToRunningServer(cluster, password)) ?? (await startServer(cluster, password, settings));
    await createDatabaseIfMissing(server);
    keepProcessAlive(server.connection, false);
    return server;
  });

async function withLock<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
  const unlock = await lockFile(cluster.lockFile, LOCK_TIMEOUT_MS);
  if (unlock === undefined) {
    throw new StartError(`Another process is starting PostgreSQL: it has locked ${cluster.lockFile}.`);
  }
  try {
    return await work();
  } finally {
    unlock();
  }
}

async function startServer(
  cluster: Cluster,
  password: string,
  settings: Record<string, string>,
): Promise<Server> {
  const account = await postgresAccount(cluster.directory);
  const binaries = await findBinaries(account);
  if (!isCreated(cluster)) {
    await createCluster({ cluster, password, binaries, account, sync: settings["fsync"] !== "off" });
  } else await rejectForeignOwner(cluster.directory, account);
  return await launchServer({ cluster, password, binaries, account, settings });
}

async function createDatabaseIfMissing({ connection }: Server): Promise<void> {
  try {
    const found = await connection.query("select from pg_database where datname = $1", [DATABASE]);
    if (found.rowCount === 0) await connection.query(`create database ${DATABASE}`);
  } catch (error) {
    await connection.end();
    throw error;
  }
}

async function stop(cluster: Cluster, server: Server, log: (message: string) => void): Promise<void> {
  keepProcessAlive(server.connection, true);
  try {
    log(await leave(cluster, server));
  } catch (error) {
    // Without a response, its process id may now belong to another program. If the server runs, the next start finds
    // it.
    log(`PostgreSQL was not stopped. ${error}`);
  } finally {
    await server.connection.end().catch(() => {}); // The server may have closed it already.
  }
}

async function leave(cluster: Cluster, { connection, pid }: Server): Promise<string> {
  await announceLeaving(connection);
  // The data directory has been deleted, and perhaps created again: no process can use this server any more.
  if ((await readPidFile(cluster.directory))?.pid !== pid) return await shutDownAndDescribe(pid);
  const unlock = await lockFile(cluster.lockFile, LOCK_TIMEOUT_ON_STOP_MS);
  if (unlock === undefined) return "PostgreSQL was not stopped: another process is starting or stopping it.";
  try {
    // While we hold the lock, no process can be about to connect.
    if (await isUnused(connection)) return await shutDownAndDescribe(pid);
    return "PostgreSQL was not stopped: another client is connected.";
  } finally {
    unlock();
  }
}

const shutDownAndDescribe = async (pid: number): Promise<string> =>
  (await shutDown(pid)) ? "PostgreSQL has stopped." : "PostgreSQL needs more time, and will stop later.";

const POLL_MS = 25;
const SQLITE_BUSY = 5;

/**
 * Locks `path` against all other callers, in this and in other processes, until the returned function is called.
 * Returns undefined if another caller keeps the lock for longer than `timeoutMs`. The file is created if missing and
 * stays empty. Only its owner can open it: a reader could keep the lock as well.
 */
export async function lockFile(path: string, timeoutMs: number): Promise<(() => void) | undefined> {
  // Node has no file locks. But SQLite gets one from the operating system, which releases it when the process ends,
  // even after kill -9. A file with a process id could not distinguish an owner that has ended from a new process with the same
  // id, and breaking such a lock is itself a race.
  await makePrivate(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  const deadline = Date.now() + timeoutMs;
  while (!tryLock(file)) {
    if (Date.now() > deadline) {
      file.close();
      return undefined;
    }
    await delay(POLL_MS);
  }
  return () => file.close();
}

function tryLock(file: DatabaseSync): boolean {
  try {
    // Without a journal file the lock writes nothing, so that a full disk does not prevent it.
    file.exec("pragma journal_mode = memory; begin exclusive");
    return true;
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return false;
    file.close();
    throw error;
  }
}

/** Also changes a file that an earlier version created with other permissions. */
async function makePrivate(path: string): Promise<void> {
  await (await open(path, "a", 0o600)).close();
  await chmod(path, 0o600).catch(() => undefined); // Another user's file, such as root's, stays as it is.
}

const ATTEMPTS_WITHIN_MS = MINUTE_MS;
/**
 * The pauses before the attempts to restart a server within this time, or after as many failures in a row; the last one is
 * repeated. A disk that is full stays so until an operator frees it, and then the service is to work again without a restart.
 */
const PAUSES_MS: readonly number[] = [0, 1_000, 2_000, 5_000, 10_000, MINUTE_MS];

/** What a caller learns of a server that ended although it is needed. */
type Guard = {
  /** For the operator. */
  warn(fields: object, message: string): void;
  /** The server can never be started, because its data has disappeared. Called once at most. */
  onGivenUp(error: Error): void;
};

type KeptServer = {
  /** Where the server listens now: a restarted one has another port. */
  readonly servers: Servers;
  /** Keeps it no longer. @returns the server that runs; null if none does */
  release(): Promise<Server | null>;
};

/**
 * Restarts the server when it has ended, or connects to it again when it has recovered from the crash of one of its processes.
 * It notices both at the connection that it keeps (docs/design/database.md, "Embedded PostgreSQL").
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
    for (let failures = 0; await waitForTurn(failures); failures += 1) {
      try {
        const provided = await provide();
        use(provided);
        const { pid, port } = provided;
        if (pid === lostPid) attempts.pop(); // It recovered on its own, as it does for each crash of a session.
        return guard.warn({ pid, port }, "embedded PostgreSQL runs again");
      } catch (error) {
        if (error instanceof MissingClusterError) return guard.onGivenUp(error);
        guard.warn({ err: error }, "embedded PostgreSQL not restarted, will try again");
      }
    }
  }

  /** Pauses before an attempt. Returns false if there is to be none. */
  async function waitForTurn(failures: number): Promise<boolean> {
    while (attempts.length > 0 && performance.now() - (attempts[0] ?? 0) > ATTEMPTS_WITHIN_MS)
      attempts.shift();
    const pauseMs = pausesMs[Math.min(Math.max(attempts.length, failures), pausesMs.length - 1)] ?? 0;
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
