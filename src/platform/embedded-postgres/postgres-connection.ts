import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { StartError } from "../environment/start-error.ts";
import { type Cluster, SUPERUSER } from "./postgres-cluster.ts";

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
export async function connectWhile(
  runs: () => boolean,
  address: ServerAddress,
): Promise<pg.Client | undefined> {
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

/** Whether no client is connected to the server, except those that have announced that they leave. */
export async function isUnused(connection: pg.Client): Promise<boolean> {
  const users =
    "select from pg_stat_activity where backend_type = 'client backend' and application_name <> $1";
  return await comesTrue(
    async () => (await connection.query(users, [LEAVING])).rowCount === 0,
    FAREWELL_MAX_MS,
  );
}

/** Whether the open connection keeps this process from ending. */
export function keepProcessAlive({ connection }: pg.Client, keep: boolean): void {
  if (!(connection.stream instanceof Socket)) return; // It is one, although its type in pg is wider.
  if (keep) connection.stream.ref();
  else connection.stream.unref();
}

/** Whether the condition becomes true before the timeout. */
export async function comesTrue(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
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
 * Whether the server's data directory is this one. In a copied DATA_DIR the password is the same, and
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
