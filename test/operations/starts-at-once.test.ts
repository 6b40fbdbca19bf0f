import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../src/operations/keyring.ts";
import type { Queryable } from "../../src/platform/database/database.ts";
import type { SecretBox } from "../../src/platform/secret-box.ts";
import { createPartner } from "../support/builders.ts";
import { storeEndpoint } from "../support/dispatch.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { createPersonWithCodes } from "../support/one-time-codes.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";
import { times } from "../support/two-services.ts";

const FILE = "webhook-secret-key";

/** The start of a process with a DATA_DIR of its own. */
const openIn = (test: TestService, dataDir: string, db: Queryable = test.db) =>
  openKeyring({ webhookSecretKeys: null, dataDir }, db, test.clock.now());

/** A process with these keys encrypts a signing secret. */
const encrypt = async (test: TestService, secrets: SecretBox) =>
  storeEndpoint({ ...test, context: { ...test.context, secrets } }, await createPartner(test), {
    url: "http://127.0.0.1:9/",
  });

const keyIn = async (dataDir: string) =>
  Buffer.from(await readFile(join(dataDir, FILE), "utf8"), "base64url");

describe("processes that start at once", () => {
  it("and share DATA_DIR have one key, which one of them has made", async () => {
    const test = await startServiceForTest();
    const dataDir = await temporaryFolder();
    const opened = await Promise.all(times(20, () => openIn(test, dataDir)));
    expect(new Set(opened.map(({ keyId }) => keyId)).size).toBe(1);
    expect(await readdir(dataDir)).toEqual([FILE]);
  });

  it("start with the file of the key, and without it neither start nor make one", async () => {
    const test = await startServiceForTest();
    const [own, none] = [await temporaryFolder(), await temporaryFolder()];
    const secrets = await openIn(test, own);
    await encrypt(test, secrets);
    const outcomes = await Promise.allSettled(
      times(20, (index) => openIn(test, index % 2 === 0 ? own : none)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(
      times(20, (index) => (index % 2 === 0 ? "fulfilled" : "rejected")),
    );
    expect(existsSync(join(none, FILE))).toBe(false);
  });

  it("do not start with a key that was made while another process encrypted the first secret", async () => {
    const test = await startServiceForTest();
    const secrets = await openIn(test, await temporaryFolder());
    const dataDir = await temporaryFolder();
    let isFirst = true;
    const query: Queryable["query"] = async (statement) => {
      const rows = await test.db.query(statement);
      if (isFirst) {
        isFirst = false;
        await encrypt(test, secrets);
      }
      return rows as never; // The rows of the same statement.
    };
    await expect(openIn(test, dataDir, { ...test.db, query })).rejects.toThrow(
      `lacks the key ${secrets.keyId}`,
    );
    await expect(openIn(test, dataDir)).rejects.toThrow(`lacks the key ${secrets.keyId}`);
  });

  it("and have each made a key of their own lose nothing: the next start names the other key", async () => {
    const test = await startServiceForTest();
    const folders = [await temporaryFolder(), await temporaryFolder()] as const;
    const [one, other] = await Promise.all([openIn(test, folders[0]), openIn(test, folders[1])]);
    const [first, second] = await Promise.all(folders.map(keyIn));
    await encrypt(test, one);
    const databaseUrl = test.context.config.databaseUrl ?? "";
    const secretKeys = second === undefined ? [] : [second];
    await createPersonWithCodes(await startServiceForTest({ databaseUrl, secretKeys }));
    await expect(openIn(test, folders[0])).rejects.toThrow(`lacks the key ${other.keyId}`);
    await expect(openIn(test, folders[1])).rejects.toThrow(`lacks the key ${one.keyId}`);
    const webhookSecretKeys = [first, second].filter((key) => key !== undefined);
    await expect(
      openKeyring({ webhookSecretKeys, dataDir: "/no/such/folder" }, test.db, test.clock.now()),
    ).resolves.toMatchObject({ keyId: one.keyId });
  });
});
