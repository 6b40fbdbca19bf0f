import pg from "pg";
import { commandsOnCitus } from "../../src/platform/database/commands-on-citus.ts";
import { distribute } from "../../src/platform/database/distribute.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { makeFirstPartitions } from "./first-partitions.ts";

/** Few, so that a test database is made quickly. Enough for merchants to be on several nodes and shards. */
const SHARDS = 4;
const SILENT = { info: () => undefined, warn: () => undefined };

/**
 * Creates the template on each node of Citus: migrated and distributed. Databases are local to a node, and Citus
 * keeps what it knows in tables. So copies of the templates of all nodes under one name are a distributed database.
 * @param coordinator a database in which Citus has its nodes
 * @returns the addresses of all nodes, the coordinator first
 */
export async function createCitusTemplate(coordinator: string, template: string): Promise<string[]> {
  const nodes = await nodesOf(coordinator);
  const urls = nodes.map(({ host, port }) => withAddress(coordinator, host, port));
  const url = await createOnNodes(urls, template);
  await migrate(url, SILENT, commandsOnCitus);
  await distribute(url, SHARDS, () => undefined);
  await makeFirstPartitions(url);
  for (const each of urls) await release(each, template);
  return urls;
}

/** An empty database on these nodes, in which Citus knows all of them. Returns its address at the coordinator. */
export async function createOnNodes(urls: readonly string[], name: string): Promise<string> {
  for (const url of urls) {
    await runOn(url, `drop database if exists ${name} with (force)`, `create database ${name}`);
    await runOn(inDatabase(url, name), "create extension citus");
  }
  const [first = "", ...workers] = urls.map((url) => `'${new URL(url).hostname}', ${new URL(url).port}`);
  const url = inDatabase(urls[0] ?? "", name);
  await runOn(url, `select citus_set_coordinator_host(${first})`);
  for (const worker of workers) await runOn(url, `select citus_add_node(${worker})`);
  return url;
}

/**
 * Citus keeps a process in each database that it has used. A database with a process cannot be copied. It is ended with the
 * database, if that is dropped from one with Citus.
 */
const release = (url: string, database: string): Promise<void> =>
  runOn(
    url,
    `alter database ${database} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
  );

export async function copyTemplate(nodes: readonly string[], template: string, name: string): Promise<void> {
  for (const url of nodes) await runOn(url, `create database ${name} template ${template}`);
}

export async function dropCopies(nodes: readonly string[], names: readonly string[]): Promise<void> {
  for (const url of nodes)
    await runOn(url, ...names.map((name) => `drop database if exists ${name} with (force)`));
}

type Node = { readonly host: string; readonly port: number };

async function nodesOf(coordinator: string): Promise<Node[]> {
  const client = new pg.Client(coordinator);
  await client.connect();
  try {
    const { rows } = await client.query<Node>(
      "select nodename as host, nodeport as port from pg_dist_node where isactive order by groupid",
    );
    return rows;
  } finally {
    await client.end();
  }
}

async function runOn(url: string, ...commands: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const command of commands) await client.query(command);
  } finally {
    await client.end();
  }
}

function withAddress(url: string, host: string, port: number): string {
  const copy = new URL(url);
  copy.hostname = host;
  copy.port = String(port);
  return copy.href;
}

function inDatabase(url: string, database: string): string {
  const copy = new URL(url);
  copy.pathname = `/${database}`;
  return copy.href;
}
