import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliTest, runCli, startCliTest } from "../support/cli.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { dumpTables } from "../support/tables.ts";
import { createEndpoint } from "../support/webhooks.ts";

let at: CliTest;
let keyId: string;
beforeAll(async () => {
  at = await startCliTest();
  await createEndpoint(at.partner);
  keyId = at.test.context.secrets.keyId;
});
afterAll(() => at.test.close());

/** A DATA_DIR of its own, and a command line with it and without WEBHOOK_SECRET_KEYS. */
async function withDataDir() {
  const dataDir = await temporaryFolder();
  const environment = { ...at.environment, WEBHOOK_SECRET_KEYS: "", DATA_DIR: dataDir };
  return {
    file: join(dataDir, "webhook-secret-key"),
    cli: (...args: string[]) => runCli(environment, args),
  };
}

const missing = (file: string) =>
  `${file} is missing: the key ${keyId} of secrets in the database. Put it back from a backup: without it, the signing secrets of endpoints and the one-time codes of people are lost (docs/operation.md, The key is lost).`;

describe("without the file of the key", () => {
  it.each([
    ["merchant", "list"],
    ["endpoint", "list-all"],
    ["endpoint", "rotate-secret", "x", "--connection", "x"],
    ["order", "retry-payment", "x"],
    ["order", "export"],
    ["audit", "export"],
    ["person", "link", "operator@localhost"],
    ["token", "rotate", "x"],
  ])("%s %s fails with 2 and the message of the start, and makes no key", async (...args) => {
    const { file, cli } = await withDataDir();
    const before = await dumpTables(at.test);
    expect(await cli(...args)).toMatchObject({ code: 2, output: "", errors: `${missing(file)}\n` });
    expect(existsSync(file)).toBe(false);
    expect(await dumpTables(at.test)).toEqual(before);
  });

  it("--json prints an object with the message", async () => {
    const { file, cli } = await withDataDir();
    expect(JSON.parse((await cli("merchant", "list", "--json")).errors)).toEqual({
      title: "Command line or configuration invalid",
      detail: missing(file),
    });
  });

  it("migrate needs no key, and makes none", async () => {
    const { file, cli } = await withDataDir();
    expect(await cli("migrate")).toMatchObject({ code: 0, errors: "" });
    expect(existsSync(file)).toBe(false);
  });

  it("doctor names the key", async () => {
    const { cli } = await withDataDir();
    const { code, output } = await cli("doctor");
    expect(code).toBe(1);
    expect(output).toContain(`WEBHOOK_SECRET_KEYS lacks ${keyId}`);
  });
});

describe("with a file of the key that cannot be used", () => {
  it("a command fails with 2 and says what is wrong with the file, and does not change it", async () => {
    const { file, cli } = await withDataDir();
    await writeFile(file, "no key");
    expect(await cli("merchant", "list")).toMatchObject({
      code: 2,
      errors: expect.stringMatching(`^${file} is not a key that the service has generated`),
    });
    const folder = await withDataDir();
    await mkdir(folder.file);
    expect(await folder.cli("merchant", "list")).toMatchObject({
      code: 2,
      errors: `${folder.file} must be a file, and is a folder.\n`,
    });
  });

  it("a command fails with 2 and names the missing key, if it is another one", async () => {
    const { file, cli } = await withDataDir();
    await writeFile(file, Buffer.alloc(32, 9).toString("base64url"));
    expect(await cli("merchant", "list")).toMatchObject({
      code: 2,
      errors: expect.stringContaining(`WEBHOOK_SECRET_KEYS lacks the key ${keyId}`),
    });
  });
});
