import { execFile } from "node:child_process";
import { chmod, cp, mkdir, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { findCopy, postgresAccount } from "../../../src/platform/embedded-postgres/cluster.ts";
import {
  cleanUpAfterTests,
  dataDir,
  emptyDataDir,
  eventually,
  home,
  query,
  show,
  start,
} from "../../support/embedded-postgres.ts";

cleanUpAfterTests();

const isRoot = process.getuid?.() === 0;
const isRootOnLinux = isRoot && process.platform === "linux";

describe.runIf(isRoot)("startEmbeddedPostgres as root", () => {
  it("runs the server as a user of the machine, and keeps what is the service's own", async () => {
    await start();
    // PostgreSQL runs as the owner of its data directory, or not at all.
    expect((await stat(join(dataDir, "postgres"))).uid).not.toBe(0);
    for (const name of ["postgres-password", "postgres.log", "postgres.lock"]) {
      expect((await stat(join(dataDir, name))).uid).toBe(0);
    }
  });

  it("reports the owner of a cluster that was copied without its owners, and how to correct it", async () => {
    await (await start()).stop();
    const copy = join(home, "copy");
    await cp(dataDir, copy, { recursive: true }); // Like cp -r of root.
    const cluster = join(copy, "postgres");
    const { uid, gid } = await stat(join(dataDir, "postgres"));
    await expect(start({ dataDir: copy })).rejects.toThrow(
      `The files in ${cluster} belong to root, and PostgreSQL does not run as root. Give them to its user: chown -R ${uid}:${gid} ${cluster}.`,
    );
    await promisify(execFile)("chown", ["-R", `${uid}:${gid}`, cluster]);
    const { url, stop } = await start({ dataDir: copy });
    expect(await query(url, "select 1 as value")).toEqual([1]);
    await stop();
    await rm(copy, { recursive: true });
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

describe.runIf(isRootOnLinux)("a copy of the programs, for a checkout that only root may enter", () => {
  it("is created once, runs as the server's user, and cannot be changed by any user but root", async () => {
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
