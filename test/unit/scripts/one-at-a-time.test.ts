import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { oneAtATime } from "../../../web/build/one-at-a-time.ts";

let folder: string;
let lock: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "partner-orders-lock-"));
  lock = join(folder, "builds", "lock");
});
afterEach(() => rm(folder, { recursive: true }));

describe("builds under one lock", () => {
  it("run one after the other, and leave nothing behind", async () => {
    let running = 0;
    const build = async (number: number) => {
      running += 1;
      expect(running).toBe(1);
      await nextTurn();
      running -= 1;
      return number;
    };
    const outcomes = await Promise.all([1, 2, 3].map((number) => oneAtATime(lock, () => build(number))));
    expect(outcomes).toEqual([1, 2, 3]);
    expect(await readdir(join(folder, "builds"))).toEqual([]);
  });

  it("let the next one begin after a failure", async () => {
    const failing = oneAtATime(lock, async () => {
      throw new Error("no space");
    });
    await expect(failing).rejects.toThrow("no space");
    expect(await oneAtATime(lock, async () => existsSync(lock))).toBe(true);
  });

  it("do not wait for a process that has ended", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    await oneAtATime(lock, async () => undefined);
    await writeFile(lock, String(pid));
    expect(await oneAtATime(lock, async () => "built")).toBe("built");
  });
});
