import { randomBytes } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { postgresAccount } from "../../src/platform/embedded-postgres/cluster.ts";
import { freePort } from "../support/free-port.ts";
import { createNode, type Node } from "./node.ts";
import { end, PROGRAMS, type Program, run, until } from "./programs.ts";
import { haproxySettings } from "./settings.ts";

/** Two nodes, etcd, and HAProxy, which leads to the primary. */
export type Cluster = {
  readonly nodes: readonly [Node, Node];
  /** The address of the database behind HAProxy, and the one that names both nodes. */
  readonly proxiedUrl: string;
  readonly severalUrl: string;
  /** The primary, as Patroni knows it. Null: there is none. */
  primary(): Promise<Node | null>;
  /** The primary, when it has a synchronous standby that follows it. */
  healthy(): Promise<Node>;
  /** A session at the primary. */
  session(database?: string): Promise<pg.Client>;
  stop(): Promise<void>;
};

const DATABASE = "partner_orders";
/** No superuser, so that it cannot take the connections that PostgreSQL reserves for Patroni. */
const USER = "partner_orders";
const HEALTHY_MS = 180_000;

export async function startCluster(folder: string): Promise<Cluster> {
  await chmod(folder, 0o755);
  const account = await postgresAccount(folder);
  const password = randomBytes(12).toString("hex");
  const etcdPort = await freePort();
  const etcd = await startEtcd(folder, etcdPort);
  const options = { folder, etcdPort, account, password };
  const nodes = [
    await createNode({ ...options, name: "one" }),
    await createNode({ ...options, name: "two" }),
  ] as const;
  const programs: Program[] = [etcd];
  const stop = async (): Promise<void> => {
    for (const node of nodes) await node.stop();
    for (const program of programs) await end(program);
  };
  try {
    for (const node of nodes) node.start();
    const { port: proxyPort, program } = await startHaproxy(folder, nodes);
    programs.push(program);
    const cluster = clusterOf(nodes, { proxyPort, password, stop });
    await cluster.healthy();
    const session = await cluster.session("postgres");
    await session.query(`create role ${USER} login password '${password}'`);
    await session.query(`create database ${DATABASE} owner ${USER}`);
    await session.end();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

function clusterOf(
  nodes: readonly [Node, Node],
  { proxyPort, password, stop }: { proxyPort: number; password: string; stop: () => Promise<void> },
): Cluster {
  const url = (servers: string): string => `postgres://${USER}:${password}@${servers}/${DATABASE}`;
  const state = async (): Promise<Member[]> => {
    for (const { apiPort } of nodes) {
      try {
        const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`, {
          signal: AbortSignal.timeout(2_000),
        });
        return ((await response.json()) as { members: Member[] }).members; // Patroni's documented form.
      } catch {
        // The other node knows it too.
      }
    }
    return [];
  };
  const nodeOf = (member: Member | undefined): Node | null =>
    nodes.find(({ name }) => name === member?.name) ?? null;
  const primary = async () =>
    nodeOf((await state()).find(({ role, state: is }) => role === "leader" && is === "running"));
  return {
    nodes,
    proxiedUrl: url(`127.0.0.1:${proxyPort}`),
    severalUrl: `${url(nodes.map(({ port }) => `127.0.0.1:${port}`).join())}?target_session_attrs=read-write`,
    primary,
    healthy: () =>
      until("a primary with a synchronous standby", HEALTHY_MS, async () => {
        const members = await state();
        const standby = members.find(({ role }) => role === "sync_standby");
        return standby !== undefined && ["running", "streaming"].includes(standby.state)
          ? await primary()
          : null;
      }),
    session: (database = DATABASE) =>
      until("a session at the primary", 30_000, async () => {
        const node = await primary();
        if (node === null) return null;
        const address = { host: "127.0.0.1", port: node.port, user: "postgres", password, database };
        const client = new pg.Client({ ...address, connectionTimeoutMillis: 5_000 });
        await client.connect();
        return client;
      }),
    stop,
  };
}

type Member = { readonly name: string; readonly role: string; readonly state: string };

async function startEtcd(folder: string, port: number): Promise<Program> {
  const clients = `http://127.0.0.1:${port}`;
  const peers = `http://127.0.0.1:${await freePort()}`;
  const flags = {
    name: "etcd",
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": clients,
    "advertise-client-urls": clients,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `etcd=${peers}`,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const program = run(folder, "etcd", PROGRAMS.etcd, args);
  await until("etcd responds", 30_000, async () => ((await fetch(`${clients}/health`)).ok ? true : null));
  return program;
}

/** Leads to the node whose Patroni is the leader, and cuts the sessions of a node that is so no longer. */
async function startHaproxy(
  folder: string,
  nodes: readonly Node[],
): Promise<{ port: number; program: Program }> {
  const port = await freePort();
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, haproxySettings(port, nodes));
  return { port, program: run(folder, "haproxy", PROGRAMS.haproxy, ["-db", "-f", file]) };
}
