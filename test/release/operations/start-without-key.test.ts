import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../../src/operations/keyring.ts";
import { createSecretBox } from "../../../src/platform/secret-box.ts";
import type { WebhookContext } from "../../../src/webhooks/conditions-sql.ts";
import { createPartner } from "../../support/builders.ts";
import { storeEndpoint } from "../../support/dispatch.ts";
import { startMain, temporaryFolder } from "../../support/main-process.ts";
import { createPersonWithCodes } from "../../support/one-time-codes.ts";
import { createPersonWithPassword, PASSWORD } from "../../support/people.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";

const [oldKey, newKey, strangeKey] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
];
const keyIdOf = (key: Buffer) => createSecretBox([key]).keyId;
const url = "http://127.0.0.1:9/";
const NO_DATA_DIR = "/no/such/folder";

const start = () => startServiceForTest({ secretKeys: [oldKey] });
const withKeys = (test: TestService, ...keys: Buffer[]): TestService => ({
  ...test,
  context: { ...test.context, secrets: createSecretBox(keys) } satisfies WebhookContext,
});
const storeSecret = async (test: TestService) => storeEndpoint(test, await createPartner(test), { url });
/** What the old key encrypts. Returns what no message may contain. */
const SEALED = {
  "signing secrets": async (test: TestService) => (await storeSecret(test)).secret,
  "one-time codes": async (test: TestService) => {
    const { uri } = await createPersonWithCodes(test);
    return new URL(uri).searchParams.get("secret") ?? uri;
  },
};
const open = (test: TestService, ...keys: Buffer[]) =>
  openKeyring({ webhookSecretKeys: keys, dataDir: NO_DATA_DIR }, test.db, test.clock.now());
const openWithFile = (test: TestService, dataDir: string) =>
  openKeyring({ webhookSecretKeys: null, dataDir }, test.db, test.clock.now());

describe.each(Object.entries(SEALED))("a start without the key of %s", (_name, seal) => {
  it("fails with one sentence that contains the key's id, the variable and the way out, and no secret", async () => {
    const test = await start();
    const secret = await seal(test);
    const main = startMain({
      DATABASE_URL: test.context.config.databaseUrl ?? "",
      DATA_DIR: join(await temporaryFolder(), "data"),
      WEBHOOK_SECRET_KEYS: newKey.toString("base64"),
    });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.errors()).toContain(`WEBHOOK_SECRET_KEYS lacks the key ${keyIdOf(oldKey)}`);
    expect(main.errors()).toContain("docs/operation.md, The key is lost");
    for (const hidden of [secret, newKey.toString("base64"), "v1.", "node:internal", ".ts:"])
      expect(main.errors()).not.toContain(hidden);
  });

  it("makes no key in place of a lost file, and says to put it back", async () => {
    const test = await start();
    await seal(test);
    const dataDir = join(await temporaryFolder(), "data");
    const main = startMain({ DATABASE_URL: test.context.config.databaseUrl ?? "", DATA_DIR: dataDir });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    const file = join(dataDir, "webhook-secret-key");
    expect(main.errors()).toContain(
      `${file} is missing: the key ${keyIdOf(oldKey)} of secrets in the database. Put it back from a backup`,
    );
    expect(existsSync(file)).toBe(false);
  });
});

describe("the keys that a start needs", () => {
  it("are those of all secrets and codes; the message names every missing one, and no other", async () => {
    const test = await start();
    for (const key of [oldKey, newKey]) await storeSecret(withKeys(test, key));
    const databaseUrl = test.context.config.databaseUrl ?? "";
    await createPersonWithCodes(await startServiceForTest({ databaseUrl, secretKeys: [strangeKey] }));
    await expect(open(test, newKey)).rejects.toMatchObject({
      errors: [keyIdOf(oldKey), keyIdOf(strangeKey)].sort().map((id) => expect.stringContaining(id)),
    });
    expect((await open(test, newKey, strangeKey, oldKey)).keyId).toBe(keyIdOf(newKey));
  });

  it("are not those of an expired secret, nor of one that no key can decrypt", async () => {
    const test = await start();
    const [spoilt, expired] = [await storeSecret(test), await storeSecret(test)];
    await test.db.query({
      name: "test-spoil",
      text: "update webhook_secrets set sealed = 'spoilt' where endpoint_id = $1",
      values: [spoilt.id],
    });
    await test.db.query({
      name: "test-end",
      text: "update webhook_secrets set expires_at = $2 where endpoint_id = $1",
      values: [expired.id, test.clock.now()],
    });
    expect((await open(test, newKey)).keyId).toBe(keyIdOf(newKey));
  });

  it("are not those of codes whose setup was not finished, nor of codes that no key can decrypt", async () => {
    const test = await start();
    const { browser } = await createPersonWithPassword(test);
    await browser.post("/auth/second-factor", { password: PASSWORD });
    const { person } = await createPersonWithCodes(test);
    const spoil = (secret: string) =>
      test.db.query({
        name: "test-spoil-codes",
        text: "update person_one_time_codes set sealed_secret = $2 where person_id = $1",
        values: [person.id, secret],
      });
    for (const secret of ["spoilt", "v1.", "v1.x.AA", "v2.0000000a.AA", "v1.0000000a", "v1.00000000a.AA"]) {
      await spoil(secret);
      expect((await open(test, newKey)).keyId).toBe(keyIdOf(newKey));
    }
    await spoil("v1.0000000a.AA");
    await expect(open(test, newKey)).rejects.toThrow("lacks the key 0000000a");
  });

  it("are in a file that the first start makes, and that the next ones read", async () => {
    const test = await start();
    const dataDir = join(await temporaryFolder(), "data");
    const { keyId } = await openWithFile(test, dataDir);
    expect((await openWithFile(test, dataDir)).keyId).toBe(keyId);
  });
});
