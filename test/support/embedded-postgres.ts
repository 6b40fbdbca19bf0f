import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll } from "vitest";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { isAlive, worksIn } from "../../src/platform/embedded-postgres/server.ts";

// Creating a cluster takes long, so the tests use the one that they find, and empty the directory when they need a new
// one.
export const home = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
export const dataDir = join(home, "data");
let started: EmbeddedPostgres[] = [];
let children: ChildProcess[] = [];

/** For the top of a test file: every test leaves neither a server nor a process behind, and the last one no folder. */
export function cleanUpAfterTests(): void {
  beforeAll(async () => {
    await mkdir(home, { recursive: true }); // The file before may have ended with its removal.
    await chmod(home, 0o755); // As root the server runs as another user, who may pass through here.
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, "exit")));
    await Promise.all(started.map((postgres) => postgres.stop()));
    await endAbandonedServer();
    started = [];
    children = [];
  });
  afterAll(() => rm(home, { recursive: true }));
}

export async function emptyDataDir(): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir);
}

export async function start(
  options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {},
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: "off" }, ...options });
  started.push(postgres);
  return postgres;
}

/** Starts PostgreSQL in a process of its own, which then waits for `stop()`, or exits. */
export function startInChild({ thenExit = false } = {}) {
  const script = `
    import { once } from "node:events";
    import { startEmbeddedPostgres } from ${JSON.stringify(moduleUrl)};
    const dataDir = ${JSON.stringify(dataDir)};
    const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: "off" } });
    console.log(postgres.url);
    if (!${thenExit}) {
      await once(process.stdin.resume(), "end");
      await postgres.stop();
    }`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    detached: true, // A process group of its own, so that the test can kill all of it.
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const exit = once(child, "exit").then(([code]) => code as number | null);
  return {
    url: Promise.race([
      once(child.stdout, "data").then(([line]) => String(line).trim()),
      exit.then(() => Promise.reject(new Error("The process has ended without a response."))),
    ]),
    exit,
    stop: () => child.stdin.end(),
    kill: () => child.kill("SIGKILL"),
    killGroup: () => process.kill(-(child.pid ?? Number.NaN), "SIGKILL"),
  };
}

const moduleUrl = new URL("../../src/platform/embedded-postgres/embedded-postgres.ts", import.meta.url).href;

/** The values of one column. */
export async function query<T = unknown>(
  database: string | pg.Client,
  sql: string,
  column = "value",
): Promise<T[]> {
  if (typeof database !== "string") return (await database.query(sql)).rows.map((row) => row[column]);
  const client = new pg.Client(database);
  try {
    await client.connect();
    return await query(client, sql, column);
  } finally {
    await client.end();
  }
}

export const show = (url: string, ...settings: string[]) =>
  Promise.all(
    settings.map(async (name) => (await query(url, `select current_setting('${name}') as value`))[0]),
  );

export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`This has not come true in time: ${condition}`);
    await delay(10);
  }
}

export const postmasterPid = async (): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8"), 10);

/** What a killed process has left. */
async function endAbandonedServer(): Promise<void> {
  const pid = await postmasterPid().catch(() => undefined);
  if (pid === undefined || !isAlive(pid) || !(await worksIn(pid, join(dataDir, "postgres")))) return;
  process.kill(pid, "SIGQUIT");
  await eventually(() => !isAlive(pid));
}
