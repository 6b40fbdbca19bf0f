import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readOrMakeSecret, readSecret } from "../../src/platform/data-dir.ts";
import { StartError } from "../../src/platform/environment.ts";
import { startMain, temporaryFolder } from "../support/main-process.ts";

it.each([
  ["operator-token", "", "must contain at least 16 visible ASCII characters"],
  ["operator-token", "fifteen-letters", "must contain at least 16 visible ASCII characters"],
  ["operator-token", "sixteen letters and more", "must contain at least 16 visible ASCII characters"],
  ["webhook-secret-key", "", "is not a key that the service has generated. Put it back"],
  ["webhook-secret-key", "a".repeat(42), "is not a key that the service has generated. Put it back"],
] as const)("the file %s with %j is rejected by its name", async (name, content, error) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, name), `${content}\n`);
  await expect(readSecret(folder, name)).rejects.toThrow(`${join(folder, name)} ${error}`);
  await expect(readOrMakeSecret(folder, name)).rejects.toThrow(`${join(folder, name)} ${error}`);
});

it.each(["operator-token", "webhook-secret-key"] as const)(
  "a folder in place of the file %s is rejected by its name",
  async (name) => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, name));
    const error = `${join(folder, name)} must be a file, and is a folder.`;
    await expect(readSecret(folder, name)).rejects.toThrow(new StartError(error));
    await expect(readOrMakeSecret(folder, name)).rejects.toThrow(error);
  },
);

it.each([
  ["operator-token", "a-token-of-our-own"],
  ["webhook-secret-key", Buffer.alloc(32, 255).toString("base64")],
] as const)("the file %s may be replaced by %s", async (name, content) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, name), `${content}\n`);
  expect(await readOrMakeSecret(folder, name)).toBe(content);
});

it("a start with a wrong file in DATA_DIR ends with one sentence that names it", async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, "operator-token"), "12345");
  const main = startMain({ DATA_DIR: dataDir, PORT: "0", BACK_OFFICE_PORT: "0" });
  expect(await main.exited()).toEqual({ code: 1, signal: null });
  const last = main.log().at(-1);
  expect(last).toMatchObject({ level: "fatal", msg: "could not start" });
  expect(last).not.toHaveProperty("err");
  expect(last?.["reason"]).toContain(`${join(dataDir, "operator-token")} must contain at least 16`);
  expect(main.errors()).toBe(`${last?.["reason"]}\n`);
});
