import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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

  it("do not wait for one that was killed: it no longer renews its lock", async () => {
    await oneAtATime(lock, async () => undefined);
    await writeFile(lock, "");
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    expect(await oneAtATime(lock, async () => "built")).toBe("built");
  });

  it("renew their lock while they run", async () => {
    const longAgo = new Date(Date.now() - 25_000);
    await oneAtATime(lock, async () => {
      await utimes(lock, longAgo, longAgo);
      await vi.waitFor(
        async () => expect((await stat(lock)).mtimeMs).toBeGreaterThan(longAgo.getTime()),
        20_000,
      );
    });
  });
});
