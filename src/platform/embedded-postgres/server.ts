import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { StartError } from "../environment.ts";
import {
  type Cluster,
  findBinaries,
  type PostgresBinaries,
  postgresEnvironment,
  type ReachablePath,
  reachablePath,
  SUPERUSER,
  type SystemUser,
} from "./cluster.ts";

/** For temporary causes, such as processes that outlive their killed postmaster. */
const RETRY_MAX_MS = 30_000;
const RETRY_EVERY_MS = 250;
const SHUTDOWN_MAX_MS = 4_000;

/** A running server, with a connection that shows other processes that we use it. */
export type Server = { pid: number; port: number; connection: pg.Client };

/** Default settings. The operator's settings override these, and `fixedSettings` override both. */
const DEFAULT_SETTINGS = {
  shared_buffers: "128MB",
  max_connections: "100",
  max_wal_size: "2GB",
  min_wal_size: "1GB", // A new file of the log would hold up all commits (docs/design/database.md, "Embedded PostgreSQL").
  jit: "off", // Compiling costs more than it gains for short statements.
  timezone: "UTC",
  log_timezone: "UTC",
};
const fixedSettings = (port: number) => ({
  listen_addresses: "127.0.0.1",
  port: String(port),
  unix_socket_directories: "", // A socket's path may have about 100 characters, and DATA_DIR may have more.
  lc_messages: "C", // We search the log for fixed English text.
});

/**
 * Connects to the server that runs on this cluster already; undefined when there is none.
 * @throws Error when there is one, but it does not let us in.
 */
export async function connectToRunningServer(
  cluster: Cluster,
  password: string,
): Promise<Server | undefined> {
  const postmaster = await findPostmaster(cluster.directory);
  if (postmaster === undefined) return undefined;
  const { pid, port } = postmaster;
  const connection = await connectWhile(() => isAlive(pid), { cluster, password, port });
  if (connection !== undefined) return { pid, port, connection };
  if (!isAlive(pid)) return undefined;
  if (await worksIn(pid, cluster.directory)) {
    throw new StartError(
      `PostgreSQL (process ${pid}) runs in ${cluster.directory}, but does not respond on port ${port}.`,
    );
  }
  // Another program has this process id. If it is our server after all, PostgreSQL notices that its shared memory is in
  // use and does not start a second one.
  await removePidFile(cluster.directory);
  return undefined;
}

type Launch = {
  cluster: Cluster;
  password: string;
  binaries: PostgresBinaries;
  account: SystemUser | undefined;
  settings: Record<string, string>;
};

/**
 * Starts a server on the cluster, in a session of its own, and waits until it can be used.
 * @throws Error with the end of the server's log.
 */
export async function launchServer(launch: Launch): Promise<Server> {
  const giveUpAt = Date.now() + RETRY_MAX_MS;
  for (;;) {
    const attempt = await tryToLaunch(launch);
    if ("connection" in attempt) return attempt;
    if (!IS_TEMPORARY.test(attempt.failure) || Date.now() > giveUpAt) {
      throw new StartError(
        `PostgreSQL did not start. The end of ${launch.cluster.logFile}:\n${attempt.failure}`,
      );
    }
    await delay(RETRY_EVERY_MS);
    const running = await connectToRunningServer(launch.cluster, launch.password);
    if (running !== undefined) return running;
  }
}

const IS_TEMPORARY =
  /pre-existing shared memory block|lock file "postmaster.pid" already exists|could not create any TCP\/IP sockets/;

async function tryToLaunch(launch: Launch): Promise<Server | { failure: string }> {
  const { cluster, password, account } = launch;
  const port = await freePort();
  const directory = await reachablePath(cluster.directory, account);
  const log = await open(cluster.logFile, "a", 0o600);
  const { size: logStart } = await log.stat();

  const child = spawnPostmaster(launch, directory, port, log.fd);
  let failure = "";
  child.on("error", (error) => {
    failure = error.message;
  });
  await log.close();

  const runs = () => failure === "" && child.exitCode === null && child.signalCode === null;
  const connection = await connectWhile(runs, { cluster, password, port }).catch((error) => {
    child.kill("SIGINT");
    throw error;
  });
  if (connection !== undefined && child.pid !== undefined) return { pid: child.pid, port, connection };
  if (child.kill("SIGINT")) failure = `It did not respond on port ${port}.`;
  return { failure: `${await lastLines(cluster.logFile, logStart)}\n${failure}`.trim() };
}

function spawnPostmaster(
  launch: Launch,
  directory: ReachablePath,
  port: number,
  logDescriptor: number,
): ChildProcess {
  const settings = Object.entries({ ...DEFAULT_SETTINGS, ...launch.settings, ...fixedSettings(port) });
  const flags = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(launch.binaries.postgres, ["-D", directory.path, ...flags], {
    ...launch.account,
    cwd: directory.cwd,
    env: postgresEnvironment(),
    stdio: ["ignore", logDescriptor, logDescriptor],
    // Otherwise Ctrl-C in a terminal would reach the server too, before the service has finished its requests.
    detached: true,
    windowsHide: true,
  });
  child.unref(); // This process may end before the server does.
  return child;
}

/**
 * Makes the server end all sessions and stop cleanly.
 * @returns whether it stopped within 4 s; otherwise it stops later.
 */
export async function shutDown(pid: number): Promise<boolean> {
  if (process.platform === "win32") {
    const { pg_ctl } = await findBinaries(undefined); // Windows has no signals, and pg_ctl a way around that.
    await promisify(execFile)(pg_ctl, ["kill", "INT", String(pid)]);
  } else if (isAlive(pid)) {
    process.kill(pid, "SIGINT");
  }
  return await comesTrue(() => !isAlive(pid), SHUTDOWN_MAX_MS);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // Always that for a TCP server that listens.
  server.close();
  await once(server, "close");
  return port;
}

/** What has been written since `start`, or the end of it. */
async function lastLines(file: string, start: number): Promise<string> {
  const bytes = await readFile(file);
  return bytes.subarray(start).toString().trimEnd().split("\n").slice(-20).join("\n");
}

const POLL_MS = 25;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server opens its port at once, and responds there even while it accepts no sessions yet. */
const SILENCE_MAX_MS = 20_000;
/** Recovery after a crash of the machine, or a shutdown that another process has requested. */
const RECOVERY_MAX_MS = 300_000;
/** Connections that a process has just closed take a moment to disappear from the server. */
const FAREWELL_MAX_MS = 1_000;
const STAYING = "partner-orders keeps the server";
const LEAVING = "partner-orders leaves the server";

/** Where to reach a server of the cluster. */
type ServerAddress = { cluster: Cluster; password: string; port: number };

/**
 * A connection to the cluster's server as soon as it accepts sessions. Undefined if it ends before that, does not
 * respond, or is the server of another cluster.
 * @param runs returns whether the server's process still runs.
 * @throws Error if the server rejects the password.
 */
async function connectWhile(runs: () => boolean, address: ServerAddress): Promise<pg.Client | undefined> {
  const recoversBy = Date.now() + RECOVERY_MAX_MS;
  let respondsBy = Date.now() + SILENCE_MAX_MS;
  while (runs() && Date.now() < respondsBy) {
    const result = await tryConnect(address);
    if (result instanceof pg.Client) return result;
    if (result === "other cluster") return undefined;
    if (result === "wrong password") {
      throw new StartError(
        `The password in ${address.cluster.passwordFile} is not that of ${address.cluster.directory}.`,
      );
    }
    if (result === "not now") respondsBy = recoversBy;
    await delay(POLL_MS);
  }
  return undefined;
}

/** Announces to others that we no longer need the server: several processes may stop at the same moment. */
export async function announceLeaving(connection: pg.Client): Promise<void> {
  await connection.query(`set application_name = '${LEAVING}'`);
}

/** True if no client is connected to the server, except those that have announced that they leave. */
export async function isUnused(connection: pg.Client): Promise<boolean> {
  const users =
    "select from pg_stat_activity where backend_type = 'client backend' and application_name <> $1";
  return await comesTrue(
    async () => (await connection.query(users, [LEAVING])).rowCount === 0,
    FAREWELL_MAX_MS,
  );
}

/** True if the open connection keeps this process from ending. */
export function keepProcessAlive({ connection }: pg.Client, keep: boolean): void {
  if (!(connection.stream instanceof Socket)) return; // It is one, although its type in pg is wider.
  if (keep) connection.stream.ref();
  else connection.stream.unref();
}

/** True if the condition becomes true before the timeout. */
async function comesTrue(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

type ConnectFailure = "silent" | "not now" | "wrong password" | "other cluster";

async function tryConnect({ cluster, password, port }: ServerAddress): Promise<pg.Client | ConnectFailure> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: SUPERUSER,
    password,
    database: "postgres", // Not the service's own database: that one may be dropped, or copied as a template.
    ssl: false,
    application_name: STAYING,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {}); // The server has ended. The service notices it at its own connections.
  try {
    await client.connect();
    if (await servesFrom(cluster.directory, client)) return client;
    await client.end();
    return "other cluster";
  } catch (error) {
    await client.end().catch(() => {});
    if (!(error instanceof pg.DatabaseError)) return "silent";
    if (error.code === "57P03") return "not now"; // cannot_connect_now: it starts, recovers or shuts down.
    if (error.code === "28P01") return "wrong password"; // invalid_password
    throw error;
  }
}

/**
 * True if the server's data directory is this one. In a copied DATA_DIR the password is the same, and
 * `postmaster.pid` leads to the server of the original.
 */
async function servesFrom(directory: string, client: pg.Client): Promise<boolean> {
  const name = `seen-by-${randomUUID()}`;
  await writeFile(join(directory, name), "");
  try {
    const seen = await client.query("select from pg_stat_file($1, true) where size is not null", [name]);
    return seen.rowCount === 1;
  } finally {
    await rm(join(directory, name), { force: true });
  }
}

/** The main process of a server. */
type Postmaster = { pid: number; port: number };

/**
 * The server that runs on the cluster, according to its `postmaster.pid`. Undefined if there is no such file, or it is
 * left over from a crash. PostgreSQL itself handles a file that names a process that has ended. We remove others, with which it
 * would not start. Call this only while holding the cluster's lock.
 */
async function findPostmaster(clusterDirectory: string): Promise<Postmaster | undefined> {
  const named = await readPidFile(clusterDirectory);
  if (named === undefined) return undefined;
  const { pid, port } = named;
  if (port > 0 && isAlive(pid) && (await worksIn(pid, clusterDirectory)) !== false) return named;
  const isEmptyOrNonsense = pid === 0 || Number.isNaN(pid);
  if (isEmptyOrNonsense || isTaken(pid)) await removePidFile(clusterDirectory);
  return undefined;
}

/** The contents of `postmaster.pid`. Undefined if it is missing. Missing numbers are 0 or NaN. */
export async function readPidFile(clusterDirectory: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFileOf(clusterDirectory), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const [pid = 0, , , port = 0] = text.split("\n").map(Number);
  return { pid, port };
}

/** Call it only with the cluster's lock held: otherwise a server that has just started might lose its file. */
const removePidFile = (clusterDirectory: string): Promise<void> =>
  rm(pidFileOf(clusterDirectory), { force: true });

/** True if the process runs. A zombie process does not. */
export const isAlive = (pid: number): boolean => isTaken(pid) && !isZombie(pid);

/** True if the process has this working directory, as a postmaster has. Undefined if that cannot be determined. */
export async function worksIn(pid: number, directory: string): Promise<boolean | undefined> {
  try {
    const theirs = await stat(`/proc/${pid}/cwd`, { bigint: true }); // Only Linux has it.
    const ours = await stat(directory, { bigint: true });
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return undefined;
  }
}

const pidFileOf = (clusterDirectory: string): string => join(clusterDirectory, "postmaster.pid");

// Like PostgreSQL we take EPERM as a no: the process of another user is none of our servers. A negative number,
// which a server without a postmaster writes, would mean a group of processes; PostgreSQL deals with it.
function isTaken(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, ""));
  } catch {
    return false;
  }
}
