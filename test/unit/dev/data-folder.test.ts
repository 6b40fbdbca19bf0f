import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDataFolder } from "../../../packages/dev/src/data-folder.ts";

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-orders-folder-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe("the folder of a service for tests", () => {
  it("is temporary without a name, its own, and removed at the end", async () => {
    const [one, other] = await Promise.all([openDataFolder(undefined), openDataFolder(undefined)]);
    expect(one.path).not.toBe(other.path);
    await Promise.all([one.close(), other.close()]);
    expect([existsSync(one.path), existsSync(other.path)]).toEqual([false, false]);
  });

  it("is removed by the next start if it was left behind, and left alone while it is used", async () => {
    const used = await openDataFolder(undefined);
    const left = await mkdtemp(join(tmpdir(), "partner-orders-dev-"));
    await writeFile(join(left, "dev-clock.json"), `{"aheadMs":0}`);
    const next = await openDataFolder(undefined);
    expect([existsSync(left), existsSync(used.path)]).toEqual([false, true]);
    await Promise.all([used.close(), next.close()]);
  });

  it("keeps the time of the clock if it has a name", async () => {
    const path = join(await emptyFolder(), "new");
    const folder = await openDataFolder(path);
    await folder.keepAhead(7_200_000);
    await folder.close();
    const again = await openDataFolder(path);
    expect(again.aheadMs).toBe(7_200_000);
    await again.close();
  });

  it("is used by one run at a time", async () => {
    const path = await emptyFolder();
    const folder = await openDataFolder(path);
    await expect(openDataFolder(path)).rejects.toThrow(`${path} is in use by another run.`);
    await folder.close();
  });

  it("is a folder that can be written to", async () => {
    const file = join(await emptyFolder(), "file");
    await writeFile(file, "");
    for (const path of [file, "/proc/none"])
      await expect(openDataFolder(path)).rejects.toThrow(`${path} cannot be created`);
  });

  it("is never that of a real service, and nothing is added to it", async () => {
    const path = await emptyFolder();
    await writeFile(join(path, "operator-token"), "t");
    await expect(openDataFolder(path)).rejects.toThrow("something that is not of this program");
    expect(await readdir(path)).toEqual(["operator-token"]);
  });
});
