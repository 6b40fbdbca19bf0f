import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../../src/platform/embedded-postgres/server.ts";
import {
  cleanUpAfterTests,
  dataDir,
  emptyDataDir,
  eventually,
  postmasterPid,
  query,
  show,
  start,
  startInChild,
} from "../../support/embedded-postgres.ts";

cleanUpAfterTests();

describe("startEmbeddedPostgres", () => {
  it("creates a cluster in UTF-8, with checksums, in UTC, and durable unless configured otherwise", async () => {
    await emptyDataDir();
    const { url } = await start({ settings: {} });
    expect(await show(url, "server_encoding", "data_checksums", "timezone")).toEqual(["UTF8", "on", "UTC"]);
    expect(await show(url, "fsync", "synchronous_commit")).toEqual(["on", "on"]);
  });

  it("keeps a gigabyte of its log for later use", async () => {
    const { url } = await start({ settings: {} });
    expect(await show(url, "min_wal_size")).toEqual(["1GB"]);
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

  it("makes a folder and a lock that no other user can open, or could keep every start waiting", async () => {
    await rm(dataDir, { recursive: true, force: true });
    await start();
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    expect([await modeOf(dataDir), await modeOf(join(dataDir, "postgres.lock"))]).toEqual([0o700, 0o600]);
  });

  it.runIf(process.getuid?.() === 0)(
    "starts although another user tries to keep the lock of a folder that all may enter",
    async () => {
      await emptyDataDir();
      await chmod(dataDir, 0o755);
      await writeFile(join(dataDir, "postgres.lock"), "", { mode: 0o644 }); // As an earlier version has made it.
      const first = await start();
      await first.stop();
      const script = `
        const { DatabaseSync } = require("node:sqlite");
        new DatabaseSync(process.argv[1], { readOnly: true }).exec("begin; select * from sqlite_schema");
      `;
      const other = spawnSync(process.execPath, ["-e", script, join(dataDir, "postgres.lock")], {
        uid: 65_534,
        gid: 65_534,
        cwd: "/",
        encoding: "utf8",
      });
      expect(other.stderr).toContain("unable to open database file");
    },
  );

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

  it("creates a new cluster when the data directory has been deleted, even from under a running server", async () => {
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

  describe("reports to the operator", () => {
    it("the server's log, when it does not start", async () => {
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
        for (const empty of ["", "\n"]) {
          await writeFile(passwordFile, empty);
          await expect(start()).rejects.toThrow(/password .* is missing/);
        }
        await rm(passwordFile);
        await expect(start()).rejects.toThrow(/password .* is missing/);
        await mkdir(passwordFile);
        await expect(start()).rejects.toThrow(`${passwordFile} must be a file, and is a folder.`);
        await rm(passwordFile, { recursive: true });
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
});
