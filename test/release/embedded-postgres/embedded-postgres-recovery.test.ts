import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { readPidFile } from "../../../src/platform/embedded-postgres/server.ts";
import {
  cleanUpAfterTests,
  dataDir,
  emptyDataDir,
  eventually,
  home,
  postmasterPid,
  query,
  start,
  startInChild,
} from "../../support/embedded-postgres.ts";

cleanUpAfterTests();

describe("startEmbeddedPostgres recovers", () => {
  it("from a kill of the server", async () => {
    const { url } = await start();
    await query(url, "create table killed as select 7 as value");
    process.kill(await postmasterPid(), "SIGKILL");
    expect(await query((await start()).url, "select value from killed")).toEqual([7]);
  });

  it("in each process that keeps the server, with one new server for all", async () => {
    const guard = { warn: () => undefined, onGivenUp: () => undefined };
    const kept = [await start({ guard }), await start({ guard })];
    const killed = await postmasterPid();
    process.kill(killed, "SIGKILL");
    await eventually(async () => {
      const running = await readPidFile(join(dataDir, "postgres"));
      const found = await Promise.allSettled(kept.map(({ servers }) => servers.find()));
      const ports = found.map((each) => (each.status === "fulfilled" ? each.value?.port : null));
      return running !== undefined && running.pid !== killed && ports.every((port) => port === running.port);
    });
  });

  it("from a kill of the server that one of its processes has survived, once that one has ended", async () => {
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
    ["names a process that is another program", async () => `${process.pid}\n${dataDir}/postgres\n1\n1\n\n`],
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

const activePids = "select pid as value from pg_stat_activity where state = 'active'";

const serverLog = () => readFile(join(dataDir, "postgres.log"), "utf8");

const unfinishedClusters = async () =>
  (await readdir(dataDir)).filter((name) => name.startsWith("postgres-unfinished-"));

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? Number.NaN;
}
