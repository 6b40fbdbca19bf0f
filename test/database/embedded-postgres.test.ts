import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded-postgres.ts";
import { postgresAccount } from "../../src/database/postgres-account.ts";
import { findCopy } from "../../src/database/postgres-binaries.ts";
import { isAlive, worksIn } from "../../src/database/postmaster.ts";

const isRoot = process.getuid?.() === 0;
const isRootOnLinux = isRoot && process.platform === "linux";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 }); // A slow disk takes its time for a new cluster.

describe("startEmbeddedPostgres", () => {
  it("creates a cluster in UTF-8, with checksums, in UTC, and durable unless told otherwise", async () => {
    await emptyDataDir();
    const { url } = await start({ settings: {} });
    expect(await show(url, "server_encoding", "data_checksums", "timezone")).toEqual(["UTF8", "on", "UTC"]);
    expect(await show(url, "fsync", "synchronous_commit")).toEqual(["on", "on"]);
  });

  it("creates the database partner_orders", async () => {
    const { url } = await start();
    expect(url).toMatch(/^postgres:\/\/postgres:[\w-]{32}@127\.0\.0\.1:\d+\/partner_orders$/);
    expect(await query(url, "select current_database() as value")).toEqual(["partner_orders"]);
  });

  it("listens on 127.0.0.1 alone, to those who know a password that only the service's user can read", async () => {
    const { url } = await start();
    expect(await show(url, "listen_addresses", "unix_socket_directories")).toEqual(["127.0.0.1", ""]);
    const withWrongPassword = new URL(url);
    withWrongPassword.password = "wrong";
    await expect(query(withWrongPassword.href, "select 1 as value")).rejects.toThrow(
      "password authentication failed",
    );
    expect((await stat(join(dataDir, "postgres-password"))).mode & 0o777).toBe(0o600);
  });

  it("takes further settings", async () => {
    const { url } = await start({ settings: { fsync: "off", work_mem: "5MB" } });
    expect(await show(url, "fsync", "work_mem")).toEqual(["off", "5MB"]);
  });

  it("keeps the data over a stop and a new start", async () => {
    const first = await start();
    await query(first.url, "create table stopped as select 7 as value");
    await first.stop();
    expect(await query((await start()).url, "select value from stopped")).toEqual([7]);
  });

  it("begins anew when the data directory has been deleted, even from under a running server", async () => {
    const first = await start();
    const firstPid = await postmasterPid();
    await rm(dataDir, { recursive: true });
    const second = await start();
    expect(second.url).not.toBe(first.url);
    expect(await query(second.url, "select 1 as value")).toEqual([1]);
    await first.stop();
    expect(isAlive(firstPid)).toBe(false);
  });

  it("does not keep its process alive, and the server survives the end of that process", async () => {
    const child = startInChild({ thenExit: true });
    const url = await child.url;
    expect(await child.exit).toBe(0);
    expect(await query(url, "select 1 as value")).toEqual([1]);
  });

  it("keeps the service's environment, with its secrets, from the server", async () => {
    const { url } = await start();
    await query(url, "create table environment (line text)");
    await query(url, "copy environment from program 'env'");
    const names = await query(url, "select split_part(line, '=', 1) as value from environment");
    expect(names).toContain("PATH");
    expect(names).not.toContain("VITEST");
  });

  describe("finds the server that runs already", () => {
    it("when its service was killed", async () => {
      const child = startInChild();
      const url = await child.url;
      child.kill();
      await child.exit;
      expect((await start()).url).toBe(url);
    });

    it("when several processes start at the same moment", async () => {
      await emptyDataDir();
      const children = Array.from({ length: 6 }, () => startInChild());
      const urls = await Promise.all(children.map((child) => child.url));
      expect(new Set(urls).size).toBe(1);
      expect(await query(urls[0] ?? "", "select 1 as value")).toEqual([1]);
    });

    it("when one process starts twice", async () => {
      const [one, two] = await Promise.all([start(), start()]);
      expect(one.url).toBe(two.url);
    });
  });

  describe("recovers", () => {
    it("from a kill of the server", async () => {
      const { url } = await start();
      await query(url, "create table killed as select 7 as value");
      process.kill(await postmasterPid(), "SIGKILL");
      expect(await query((await start()).url, "select value from killed")).toEqual([7]);
    });

    it("from a kill of the server that one of its processes has survived, once that one is gone", async () => {
      const { url } = await start();
      const survivor = new pg.Client(url);
      survivor.on("error", () => {});
      await survivor.connect();
      const [survivorPid] = await query<number>(survivor, "select pg_backend_pid() as value");
      survivor.query("do $$ begin loop null; end loop; end $$").catch(() => {}); // Too busy to notice anything.
      await eventually(async () => (await query(url, activePids)).includes(survivorPid));

      process.kill(await postmasterPid(), "SIGKILL");
      const restart = start();
      await eventually(async () => (await serverLog()).includes("pre-existing shared memory block"));
      process.kill(survivorPid ?? 0, "SIGKILL");
      expect(await query((await restart).url, "select 1 as value")).toEqual([1]);
    });

    it("from a kill while the cluster was being created", async () => {
      await emptyDataDir();
      const child = startInChild();
      child.url.catch(() => {});
      await eventually(async () => {
        const [unfinished = "none"] = await unfinishedClusters();
        return existsSync(join(dataDir, unfinished, "cluster", "PG_VERSION"));
      });
      child.killGroup();
      await child.exit;
      expect(existsSync(join(dataDir, "postgres"))).toBe(false);

      expect(await query((await start()).url, "select 1 as value")).toEqual([1]);
      expect(await unfinishedClusters()).toEqual([]);
    });

    it.each([
      ["names a process that has ended", async () => `${await endedPid()}\n${dataDir}/postgres\n1\n5432\n\n`],
      [
        "names a process that is another program",
        async () => `${process.pid}\n${dataDir}/postgres\n1\n1\n\n`,
      ],
      ["is empty", async () => ""],
    ])("from a crash of the machine, when the postmaster.pid left over %s", async (_, content) => {
      await (await start()).stop();
      await writeFile(join(dataDir, "postgres", "postmaster.pid"), await content(), { mode: 0o644 });
      expect(await query((await start()).url, "select 1 as value")).toEqual([1]);
    });

    it("from a crash of the machine, when the postmaster.pid left over names the server of another cluster", async () => {
      const other = await start({ dataDir: join(home, "other") });
      await (await start()).stop();
      const pidFile = join("postgres", "postmaster.pid");
      await copyFile(join(home, "other", pidFile), join(dataDir, pidFile));
      expect((await start()).url).not.toBe(other.url);
    });
  });

  describe("tells the operator", () => {
    it("what the server's log says, when it does not start", async () => {
      const failed = start({ settings: { fsync: "off", shared_buffers: "nonsense" } });
      await expect(failed).rejects.toThrow(
        /did not start.*postgres\.log.*invalid value for parameter "shared_buffers"/s,
      );
    });

    it("that the password is missing or wrong, and leaves no server behind", async () => {
      await (await start()).stop();
      const passwordFile = join(dataDir, "postgres-password");
      const password = await readFile(passwordFile);
      try {
        await writeFile(passwordFile, "wrong");
        await expect(start()).rejects.toThrow(/password .* is not that of/);
        await eventually(() => !existsSync(join(dataDir, "postgres", "postmaster.pid")));
        await rm(passwordFile);
        await expect(start()).rejects.toThrow(/password .* is missing/);
      } finally {
        await writeFile(passwordFile, password, { mode: 0o600 });
      }
    });
  });

  describe("stop", () => {
    it("ends the server, and may be called again", async () => {
      const postgres = await start();
      const pid = await postmasterPid();
      await Promise.all([postgres.stop(), postgres.stop()]);
      expect(isAlive(pid)).toBe(false);
      await postgres.stop();
    });

    it("ends the server right after the service has closed its connections", async () => {
      const postgres = await start();
      const pool = new pg.Pool({ connectionString: postgres.url });
      await Promise.all(Array.from({ length: 10 }, () => pool.query("select 1")));
      await pool.end();
      await postgres.stop();
      expect(existsSync(join(dataDir, "postgres", "postmaster.pid"))).toBe(false);
    });

    it("leaves the server to other processes that use it, until the last one stops it", async () => {
      const other = startInChild();
      const url = await other.url;
      const postgres = await start();
      await postgres.stop();
      expect(await query(url, "select 1 as value")).toEqual([1]);

      other.stop();
      expect(await other.exit).toBe(0);
      await expect(query(url, "select 1 as value")).rejects.toThrow();
    });

    it("ends the server when all who use it stop at the same moment", async () => {
      const postgreses = [await start(), await start(), await start()];
      const pid = await postmasterPid();
      await Promise.all(postgreses.map((postgres) => postgres.stop()));
      expect(isAlive(pid)).toBe(false);
    });

    it("leaves the server to an operator who is connected", async () => {
      const postgres = await start();
      const operator = new pg.Client(postgres.url);
      await operator.connect();
      await postgres.stop();
      expect(await query(operator, "select 1 as value")).toEqual([1]);
      await operator.end();
    });
  });

  describe.runIf(isRoot)("as root", () => {
    it("runs the server as a user of the machine, and keeps what is the service's own", async () => {
      await start();
      // PostgreSQL runs as the owner of its data directory, or not at all.
      expect((await stat(join(dataDir, "postgres"))).uid).not.toBe(0);
      for (const name of ["postgres-password", "postgres.log", "postgres.lock"]) {
        expect((await stat(join(dataDir, name))).uid).toBe(0);
      }
    });

    it.runIf(isRootOnLinux)(
      "works in a folder that only root may enter, and leaves the folder as it is",
      async () => {
        await emptyDataDir();
        await chmod(home, 0o700);
        try {
          const { url, stop } = await start();
          await query(url, "create table numbers as select value from generate_series(1, 100000) value");
          await query(url, "alter system set min_parallel_table_scan_size = 0");
          await query(url, "alter system set parallel_setup_cost = 0");
          await query(url, "select pg_reload_conf()");
          await eventually(async () => (await show(url, "parallel_setup_cost"))[0] === "0");
          const plan = await query(url, "explain (analyze) select count(*) from numbers", "QUERY PLAN");
          expect(plan.join("\n")).toMatch(/Workers Launched: [1-9]/);
          await query(url, "checkpoint");
          await stop();
          expect(await query((await start()).url, "select count(*)::int as value from numbers")).toEqual([
            100_000,
          ]);
          expect(await stat(home)).toMatchObject({ uid: 0, mode: 0o40700 });
        } finally {
          await chmod(home, 0o755);
        }
      },
    );
  });
});

describe.runIf(isRootOnLinux)("a copy of the programs, for a checkout that only root may enter", () => {
  it("is made once, runs as the server's user, and cannot be changed by anybody but root", async () => {
    const parent = await directory("once", 0o755);
    const { postgres } = await copyIn(parent);
    const { ino, uid, mode } = await stat(postgres);
    expect({ uid, mode }).toEqual({ uid: 0, mode: 0o100755 });
    expect((await stat((await copyIn(parent)).postgres)).ino).toBe(ino);
  });

  it("is neither made nor used where others may write", async () => {
    const writable = await directory("writable", 0o777);
    await expect(copyIn(writable)).rejects.toThrow(/only root may change/);
    await directory("writable-within", 0o755);
    await directory("writable-within/partner-orders", 0o777);
    await expect(copyIn(join(home, "writable-within"))).rejects.toThrow(/only root may change/);
  });

  it("is looked for in the next place when the server's user cannot reach the first", async () => {
    const [closed, open] = [await directory("closed", 0o700), await directory("open", 0o755)];
    expect((await copyIn(closed, open)).postgres).toMatch(`${open}/`);
  });

  async function directory(name: string, mode: number): Promise<string> {
    const path = join(home, name);
    await mkdir(path);
    await chmod(path, mode); // mkdir heeds the umask.
    return path;
  }

  const copyIn = async (...parents: string[]) => {
    const program = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    return findCopy(dirname(dirname(program)), await postgresAccount(home), parents);
  };
});

// To create a cluster takes long, so the tests go on with the one that they find, and empty the directory when
// they are about a new one.
const home = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
const dataDir = join(home, "data");
let started: EmbeddedPostgres[] = [];
let children: ChildProcess[] = [];

beforeAll(() => chmod(home, 0o755)); // As root the server runs as another user, who may pass through here.

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, "exit")));
  await Promise.all(started.map((postgres) => postgres.stop()));
  await endAbandonedServer();
  started = [];
  children = [];
});

afterAll(() => rm(home, { recursive: true }));

async function emptyDataDir(): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir);
}

async function start(
  options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {},
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: "off" }, ...options });
  started.push(postgres);
  return postgres;
}

/** Starts PostgreSQL in a process of its own, which then waits for `stop()`, or exits. */
function startInChild({ thenExit = false } = {}) {
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
      exit.then(() => Promise.reject(new Error("The process has ended without an answer."))),
    ]),
    exit,
    stop: () => child.stdin.end(),
    kill: () => child.kill("SIGKILL"),
    killGroup: () => process.kill(-(child.pid ?? Number.NaN), "SIGKILL"),
  };
}

const moduleUrl = new URL("../../src/database/embedded-postgres.ts", import.meta.url).href;

/** The values of one column. */
async function query<T = unknown>(database: string | pg.Client, sql: string, column = "value"): Promise<T[]> {
  if (typeof database !== "string") return (await database.query(sql)).rows.map((row) => row[column]);
  const client = new pg.Client(database);
  try {
    await client.connect();
    return await query(client, sql, column);
  } finally {
    await client.end();
  }
}

const activePids = "select pid as value from pg_stat_activity where state = 'active'";

const show = (url: string, ...settings: string[]) =>
  Promise.all(
    settings.map(async (name) => (await query(url, `select current_setting('${name}') as value`))[0]),
  );

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`This has not come true in time: ${condition}`);
    await delay(10);
  }
}

const serverLog = () => readFile(join(dataDir, "postgres.log"), "utf8");

const unfinishedClusters = async () =>
  (await readdir(dataDir)).filter((name) => name.startsWith("postgres-unfinished-"));

const postmasterPid = async (): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8"), 10);

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? Number.NaN;
}

/** What a killed process has left. */
async function endAbandonedServer(): Promise<void> {
  const pid = await postmasterPid().catch(() => undefined);
  if (pid === undefined || !isAlive(pid) || !(await worksIn(pid, join(dataDir, "postgres")))) return;
  process.kill(pid, "SIGQUIT");
  await eventually(() => !isAlive(pid));
}
