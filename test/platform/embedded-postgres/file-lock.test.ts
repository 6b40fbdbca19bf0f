import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockFile } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { temporaryFolder } from "../../support/main-process.ts";

it("a lock writes nothing, so that it can be had on a full disk, and excludes others", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "lock");
  const unlock = await lockFile(path, 0);
  expect(await readdir(folder)).toEqual(["lock"]);
  expect(await lockFile(path, 0)).toBeUndefined();
  unlock?.();
  expect((await stat(path)).size).toBe(0);
  const again = await lockFile(path, 0);
  expect(again).toBeDefined();
  again?.();
});
