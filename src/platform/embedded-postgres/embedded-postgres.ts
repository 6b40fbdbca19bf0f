import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeDataDir } from "../data-dir/data-dir.ts";
import type { Servers } from "../database/servers/primary-client.ts";
import { StartError } from "../environment/start-error.ts";
import { lockFile } from "./file-lock.ts";
import { type Guard, type KeptServer, keepRunning } from "./keep-running.ts";
import { postgresAccount, rejectForeignOwner } from "./postgres-account.ts";
import { findBinaries } from "./postgres-binaries.ts";
import {
  type Cluster,
  clusterIn,
  createCluster,
  isCreated,
  readOrMakePassword,
  rejectDisappeared,
  rejectMissing,
  SUPERUSER,
} from "./postgres-cluster.ts";
import { announceLeaving, isUnused, keepProcessAlive } from "./postgres-connection.ts";
import { connectToRunningServer, launchServer, type Server, shutDown } from "./postgres-server.ts";
import { readPidFile } from "./postmaster.ts";

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
