import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type pg from "pg";
import { StartError } from "../environment/start-error.ts";
import { type Account, type ReachablePath, reachablePath } from "./postgres-account.ts";
import { findBinaries, type PostgresBinaries } from "./postgres-binaries.ts";
import { type Cluster, postgresEnvironment } from "./postgres-cluster.ts";
import { comesTrue, connectWhile } from "./postgres-connection.ts";
import { findPostmaster, isAlive, removePidFile, worksIn } from "./postmaster.ts";

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
  min_wal_size: "1GB", // A new file of the log would hold up all commits (decision 0187).
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
  account: Account | undefined;
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
